/** Troubles of deliveries, one by one, beside a daemon: `status`, `doctor`, the page, `/api/status` and the metrics name them alike, until the remedy was followed. */
import { setImmediate } from 'node:timers/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { besideService, resendIn, type Daemon, type OnTheWay } from '../../support/surfaces.ts';

type Beside = Awaited<ReturnType<typeof besideService>>;

/** With a daemon beside it whose callback is verified. */
async function subscribed() {
  const beside = await besideService(6, { isDelivered: true, world: { retryAfter: 3_600 } });
  const { service, ofService, isVerified } = beside;
  const { sandbox } = service;
  let daemon = await beside.serve();
  await daemon.until(async () => isVerified() && (await beside.status()).length === 0);
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  let edits = 0;
  /** Changes a vendor, and waits until its delivery was answered with this. */
  const announced = async (answer: number): Promise<void> => {
    const before = sandbox.deliveries().length;
    edits += 1;
    ofService.edit(Number(vendorid), { vendor_name: `Changed ${edits}` });
    const answered = () =>
      sandbox
        .deliveries()
        .slice(before)
        .filter(({ status }) => status !== undefined);
    await daemon.until(() => answered().length > 0);
    expect(answered()).toMatchObject([{ status: answer }]);
  };
  const restart = async (): Promise<Daemon> => {
    await daemon.end();
    daemon = await beside.serve();
    return daemon;
  };
  return { ...beside, daemon, restart, announced };
}

const changed =
  (change: OnTheWay): OnTheWay =>
  (sent) =>
    sent.method === 'POST' ? change(sent) : sent;
const withHeaders = (change: (name: string, value: string) => [string, string][]): OnTheWay =>
  changed((sent) => ({
    ...sent,
    headers: Object.fromEntries(Object.entries(sent.headers).flatMap(([name, value]) => change(name, value))),
  }));
const withBody = (change: (body: string) => string): OnTheWay =>
  changed((sent) => ({ ...sent, body: change(sent.body ?? '') }));
const isSignature = (name: string): boolean => /hmac/i.test(name);

/** One of each remedy; `refusals.test.ts` tells all causes. */
const rewrites: readonly (readonly [title: string, answer: number, way: OnTheWay, words: RegExp, remedy: RegExp])[] = [
  [
    'without its signature',
    400,
    withHeaders((name, value) => (isSignature(name) ? [] : [[name, value]])),
    /without a signature that is recognised/,
    /^Let the proxy pass all request headers on/,
  ],
  [
    'with a changed body',
    401,
    withBody((body) => body.replace('vendor', 'Vendor')),
    /signed with another key, or changed on their way/,
    /`vendor-mirror doctor`/,
  ],
  [
    'as JSON',
    415,
    withHeaders((name, value) => [[name, /^content-type$/i.test(name) ? 'application/json' : value]]),
    /of another form than deliveries have \(JSON\)/,
    /^Switch off whatever rewrites/,
  ],
];

/** That the daemon, `status` and `doctor` say the same. */
async function areAlike({ status, doctor }: Beside, daemon: Daemon, check: string): Promise<void> {
  const problems = await status();
  await daemon.shows(problems);
  const found = (await doctor()).filter((one) => one.check === check);
  expect(found.map(({ message, remedy }) => [message, remedy])).toEqual(
    problems.map(({ message, what_to_do }) => [message, what_to_do]),
  );
}

it.each(rewrites)(
  'L23 L44 deliveries that arrive %s are named alike by each, until the proxy is mended',
  async (_, answer, way, words, remedy) => {
    const beside = await subscribed();
    const { status, doctor, changes, announced, daemon } = beside;
    changes(way);
    await announced(answer);
    await daemon.until(async () => (await status()).length > 0);
    expect(await status()).toMatchObject([
      {
        code: 'deliveries_refused',
        message: expect.stringMatching(words) as string,
        what_to_do: expect.stringMatching(remedy) as string,
      },
    ]);
    await areAlike(beside, daemon, 'refused deliveries');

    changes(undefined);
    await announced(200);
    await daemon.shows([]);
    expect([await status(), await doctor()]).toEqual([[], []]);
  },
);

it('L23 L44 a signature of another header is named alike by each, until the settings name it', async () => {
  const beside = await subscribed();
  const { line, status, doctor, changes, announced, daemon, restart } = beside;
  const header = 'X-Other-Signature';
  changes(withHeaders((name, value) => [[isSignature(name) ? header : name, value]]));
  await announced(400);
  await daemon.until(async () => (await status()).length > 0);
  expect(await status()).toMatchObject([
    { code: 'deliveries_refused', what_to_do: expect.stringContaining('name it in service.signatureHeader') as string },
  ]);
  await areAlike(beside, daemon, 'refused deliveries');
  const settings = readFileSync(line.settings, 'utf8').replace('service: {', `service: { signatureHeader: ${header},`);
  writeFileSync(line.settings, settings, { mode: 0o600 });
  const again = await restart();
  await announced(200);
  await again.shows([]);
  expect([await status(), await doctor()]).toEqual([[], []]);
});

it('L23 L44 deliveries signed with a key that was lost are named alike by each, until a new one was asked for', async () => {
  const beside = await subscribed();
  const { line, status, doctor, announced, daemon, service, isVerified } = beside;
  const callbacks = service.sandbox.callbacks(service.account);
  const [callback] = callbacks.all();
  if (!callback) throw new Error('There is no callback.');
  // The service has a key that this installation never had.
  const renewed = callbacks.renew(Date.now(), callback);
  callbacks.verify(Date.now(), renewed, renewed.verifier);
  await announced(401);
  await daemon.until(async () => (await status()).length > 0);
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'deliveries_refused' }]);
  await areAlike(beside, daemon, 'refused deliveries');
  expect((await line.run(...resendIn(problems))).status).toBe(0);
  await daemon.until(async () => isVerified() && (await status()).length === 0);
  expect([await status(), await doctor()]).toEqual([[], []]);
  await daemon.shows([]);
  await announced(200);
});

it('L44 a callback that somebody deleted is told by doctor, and named alike by each while another is not verified', async () => {
  const { line, status, doctor, daemon, announced, service, isVerified, shut } = await subscribed();
  const callbacks = service.sandbox.callbacks(service.account);
  for (const { id } of callbacks.all()) callbacks.remove(id);
  expect(await doctor()).toMatchObject([
    {
      check: 'callbacks',
      message: 'No callback of this installation is registered, so nothing is delivered.',
      remedy: 'The running daemon registers and verifies it before its next run, and at once on SIGHUP.',
    },
  ]);
  shut(true);
  process.emit('SIGHUP');
  await daemon.until(async () => (await status()).length > 0);
  const problems = await status();
  expect(problems).toMatchObject([
    { code: 'callback_unverified', message: expect.stringContaining('Our callback 2002 is not verified') as string },
  ]);
  await daemon.shows(problems);
  expect((await doctor()).map(({ message, remedy }) => [message, remedy])).toContainEqual([
    problems[0]?.message,
    problems[0]?.what_to_do,
  ]);
  shut(false);
  expect((await line.run(...resendIn(problems))).status).toBe(0);
  await daemon.until(async () => isVerified() && (await status()).length === 0 && (await doctor()).length === 0);
  expect([await status(), await doctor()]).toEqual([[], []]);
  await announced(200);
  await daemon.shows([]);
});

it('L44 a public address that changed is named alike by status and doctor, and a restart moves the callback as they say', async () => {
  const { line, publicUrl, status, doctor, restart, announced, service } = await subscribed();
  const moved = publicUrl.replace('127.0.0.1', 'localhost');
  writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace(publicUrl, moved), { mode: 0o600 });
  expect(await doctor()).toMatchObject([
    {
      check: 'callbacks',
      message: `Our callback 2001 leads to ${publicUrl}, and listener.publicUrl is ${moved}.`,
      remedy: expect.stringContaining('start the daemon again') as string,
    },
  ]);
  expect((await status()).map(({ message, what_to_do }) => [message, what_to_do])).toEqual(
    (await doctor()).map(({ message, remedy }) => [message, remedy]),
  );
  const daemon = await restart();
  const addresses = () =>
    service.sandbox
      .callbacks(service.account)
      .all()
      .map(({ uri, verified }) => [new URL(uri).origin, verified]);
  await daemon.until(async () => addresses().every(([origin]) => origin === moved) && (await status()).length === 0);
  expect([addresses(), await status(), await doctor()]).toEqual([[[moved, true]], [], []]);
  await announced(200);
  await daemon.shows([]);
});

it('L44 a callback that is silent is named alike by each, and the remedy ends it', async () => {
  const beside = await subscribed();
  const { line, status, doctor, daemon, announced } = beside;
  // A transaction of the daemon, which is in this process, ends in its turn of the event loop.
  await setImmediate();
  const mirror = new Driver(line.database);
  const at = (minutes: number): string => timestamp(line.clock.now() - minutes * 60_000);
  mirror.prepare('UPDATE _accounts SET callback_proven_at = ?').run(at(40));
  for (const vendorid of [1001, 1002, 1003])
    mirror
      .prepare(
        `INSERT INTO findings (run_id, account_id, vendorid, kind, fields, found_at)
         VALUES ((SELECT max(id) FROM runs), '6BApk', ?, 'missed_update', '[]', ?)`,
      )
      .run(vendorid, at(20));
  mirror.close();
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'deliveries_silent' }]);
  await areAlike(beside, daemon, 'deliveries');
  expect((await line.run(...resendIn(problems))).status).toBe(0);
  await daemon.until(async () => (await status()).length === 0);
  expect([await status(), await doctor()]).toEqual([[], []]);
  await announced(200);
  await daemon.shows([]);
});
