/** Troubles of the machine and of what the program writes to, one by one: each surface names them alike, until the remedy was followed. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { listen } from '../../support/network/listen.ts';
import { hookSecret } from '../../support/network/receiver.ts';
import { besideService, commandIn, silence, type Answer, type Problem } from '../../support/surfaces.ts';

/** The service, whose clock differs by so many milliseconds. */
const atTimeOf =
  (ms: number): Answer =>
  async (_url, real) => {
    const { status, headers, body } = await real();
    const date = new Date(Date.parse(headers.get('date') ?? '') + ms).toUTCString();
    return { status, body, headers: { get: (name) => (name.toLowerCase() === 'date' ? date : headers.get(name)) } };
  };

it.each([
  ['ahead of', -7_230_000],
  ['behind', 7_230_000],
])("L16 L44 a clock that is %s the service's is named alike by each, until it is set", async (direction, ms) => {
  const { line, status, doctor, meets, saidByDoctorAndDaemon } = await besideService(6);
  meets(atTimeOf(ms));
  await line.run('sync');
  const problems = await status();
  expect(problems).toMatchObject([
    { code: 'clock_wrong', message: expect.stringMatching(`^The clock of this machine is 2 h ${direction}`) as string },
  ]);
  expect((await doctor()).map(({ check }) => check)).toEqual(['freshness']);
  await saidByDoctorAndDaemon(problems);
  meets(undefined);
  expect((await line.run('sync')).status).toBe(0);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

/** A daemon beside it, and a receiver that answers with this status to what was changed first. */
async function besideReceiver(first: number) {
  let answer = 200;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer).end();
  });
  const port = await listen(server);
  const beside = await besideService(6, {
    settings: `notify: [{ name: books, url: "http://127.0.0.1:${port}/hook", secret: ${hookSecret} }]`,
    // A receiver has 15 s to answer.
    hurriedBelow: 15_000,
  });
  const { line, ofService, serve } = beside;
  const targets = async (): Promise<string> => (await line.run('notify', 'list')).stdout;
  const daemon = await serve();
  await daemon.until(async () => (await targets()).includes('delivering'));
  answer = first;
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  ofService.edit(Number(vendorid), { vendor_name: 'Changed' });
  expect((await line.run('sync')).status).toBe(0);
  await daemon.until(async () => !(await targets()).includes('delivering'));
  await daemon.end();
  return { ...beside, answers: (status: number): void => void (answer = status) };
}

it('L44 a receiver that fails for long is named alike by each, until it takes messages', async () => {
  const { line, status, doctor, answers, serve, saidByDoctorAndDaemon } = await besideReceiver(500);
  const mirror = new Driver(line.database);
  mirror.prepare('UPDATE _notify_targets SET failing_since = ?').run(timestamp(line.clock.now() - 20 * 60_000));
  mirror.close();
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'receiver_failing', message: expect.stringContaining('500') as string }]);
  await saidByDoctorAndDaemon(problems);
  answers(200);
  const again = await serve();
  await again.until(async () => (await status()).length === 0);
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

it.each([
  ['retry', 'once its receiver is back'],
  ['remove', 'Remove the target from'],
])('L44 a receiver that answers 410 is named alike by each, and the remedy ends it (%s)', async (what, words) => {
  const { line, status, doctor, answers, serve, saidByDoctorAndDaemon } = await besideReceiver(410);
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'receiver_gone', what_to_do: expect.stringContaining(words) as string }]);
  await saidByDoctorAndDaemon(problems);
  answers(200);
  if (what === 'retry') expect((await line.run(...commandIn(problems[0]?.what_to_do))).status).toBe(0);
  else {
    const settings = readFileSync(line.settings, 'utf8').replace(/^notify: .*$/m, '');
    writeFileSync(line.settings, settings, { mode: 0o600 });
    const left = await status();
    expect(left).toMatchObject([{ code: 'receiver_unknown' }]);
    await saidByDoctorAndDaemon(left);
    expect((await line.run(...commandIn(left[0]?.what_to_do))).status).toBe(0);
  }
  const again = await serve();
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

it('L44 changes that were given up for a receiver are named alike by each, and the remedy sends them', async () => {
  const { line, status, doctor, answers, serve, saidByDoctorAndDaemon } = await besideReceiver(500);
  const mirror = new Driver(line.database);
  mirror.exec('UPDATE _notify_queue SET due_ms = NULL, due_at = NULL');
  mirror.close();
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'changes_given_up' }]);
  await saidByDoctorAndDaemon(problems);
  answers(200);
  expect((await line.run(...commandIn(problems[0]?.what_to_do))).status).toBe(0);
  const again = await serve();
  await again.until(async () => (await status()).length === 0);
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

it('L29 L79 L44 a copy whose folder is a file is named alike by each, until that is mended', async () => {
  const folder = join(temporaryFolder(), 'copies');
  const beside = await besideService(6, { settings: `publish: [{ path: ${folder}/copy.csv }]` });
  writeFileSync(folder, '');
  const { status, doctor, serve, saidByDoctorAndDaemon } = beside;
  const [before] = (await doctor()).filter(({ check }) => check === 'copies for readers');
  const daemon = await serve();
  await daemon.until(async () => (await status()).length > 0);
  await daemon.end();
  const problems: readonly Problem[] = await status();
  const message = expect.stringContaining(before?.message ?? '-') as string;
  expect(problems).toMatchObject([{ code: 'publication_failing', message, what_to_do: before?.remedy }]);
  await saidByDoctorAndDaemon(problems);
  rmSync(folder);
  mkdirSync(folder);
  const again = await serve();
  await again.until(async () => (await status()).length === 0);
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

it('L44 F12 a mirror restored from an older copy is named alike by each, until it is swept as they say', async () => {
  const { line, status, doctor, ofService, meets, serve } = await besideService(6);
  const copy = join(temporaryFolder(), 'copy.db');
  const mirror = new Driver(line.database);
  mirror.pragma('wal_checkpoint(TRUNCATE)');
  mirror.close();
  copyFileSync(line.database, copy);
  const old = new Driver(copy);
  const at = timestamp(line.clock.now() - 5 * 3_600_000);
  old.prepare('UPDATE runs SET started_at = ?, finished_at = ?, safe_as_of = ?, listed_as_of = ?').run(at, at, at, at);
  old.close();
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  ofService.edit(Number(vendorid), { vendor_name: 'After the copy' });
  expect((await line.run('sync')).status).toBe(0);
  for (const suffix of ['', '-wal', '-shm']) rmSync(line.database + suffix, { force: true });
  copyFileSync(copy, line.database);
  const problems = await status();
  expect(problems).toMatchObject([
    { code: 'stale', what_to_do: expect.stringContaining('`vendor-mirror sync`') as string },
  ]);
  expect((await doctor()).map(({ message, remedy }) => [message, remedy])).toContainEqual([
    problems[0]?.message,
    problems[0]?.what_to_do,
  ]);
  meets(silence);
  const beside = await serve();
  await beside.shows([{ code: 'stale', message: problems[0]?.message ?? '', what_to_do: 'Run `vendor-mirror sync`.' }]);
  meets(undefined);
  await beside.end();
  expect((await line.run(...commandIn(problems[0]?.what_to_do))).status).toBe(0);
  const daemon = await serve();
  await daemon.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
  expect((await line.run('verify')).status).toBe(0);
});
