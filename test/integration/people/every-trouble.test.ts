/**
 * Troubles, one by one: the command that meets one, `status`, `doctor`, and the page, `/api/status` and the metrics of a daemon name the same
 * cause and the same remedy; once it is gone, none of them speaks of it. Which alert each fires, `alerts.test.ts` tells.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { besideService, commandIn, resendIn, silence, type Answer } from '../../support/surfaces.ts';
import { testbed } from '../../support/testbed.ts';

const form = (status: number, errno: number, message: string): Answer => {
  const body = JSON.stringify({ response: { errors: [{ errno, message }] } });
  return () => Promise.resolve(new Response(body, { status, headers: { 'content-type': 'application/json' } }));
};
const page = (status: number): Answer => {
  const headers = { 'content-type': 'text/html' };
  return () => Promise.resolve(new Response('<html>Hello.</html>', { status, headers }));
};
const network = (code: string): Answer => {
  const error = Object.assign(new Error(code), { code });
  return () => Promise.reject(error);
};

const troubles: readonly (readonly [title: string, answer: Answer, verdict: string, remedy: RegExp])[] = [
  ['a dead token', form(401, 401, 'No.'), 'access_refused', /^Set a new token as service\.auth\.accessToken\.$/],
  ['a wrong account', form(403, 1003, 'Denied.'), 'access_refused', /^Check the id of the account/],
  ['a role', form(200, 31001, 'No bill vendors.'), 'access_refused', /^The plan .* or the role/],
  ['a plan', page(402), 'access_refused', /^The plan of the business/],
  ['an inactive account', form(403, 1042, 'Inactive.'), 'access_refused', /^The account is inactive/],
  ['the page of a firewall', page(403), 'access_refused', /firewall/],
  ['another server', page(404), 'last_run', /^Check the path in service\.baseUrl .*6BApk/],
  ['a page for an answer', page(200), 'service_failing', /^Check the path in service\.baseUrl .*in its place\.$/],
  ['a service that is down', page(503), 'service_failing', /try again later/],
  ['a closed port', network('ECONNREFUSED'), 'service_failing', /^Check the port/],
  ['a name that is unknown', network('ENOTFOUND'), 'service_failing', /^Check the spelling of the name/],
  ['a name server that is silent', network('EAI_AGAIN'), 'service_failing', /^Check the name server/],
  ['a self-signed certificate', network('DEPTH_ZERO_SELF_SIGNED_CERT'), 'service_failing', /NODE_EXTRA_CA_CERTS/],
  ['a certificate that has expired', network('CERT_HAS_EXPIRED'), 'service_failing', /^Renew the certificate/],
  ['a certificate of another name', network('ERR_TLS_CERT_ALTNAME_INVALID'), 'service_failing', /host name/],
];

/** One of each verdict, and one that no server answers: what a daemon shows of a judgement, `judge.situations.test.ts` tells. */
const besideDaemon = new Set(['a dead token', 'another server', 'a service that is down', 'a closed port']);

it.each(troubles)('L40 L44 %s is named alike by each', async (title, answer, verdict, remedy) => {
  const { line, status, doctor, meets, serve: start } = await besideService(12);
  meets(answer);
  const sync = await line.run('sync');
  const problems = await status();
  const [problem] = problems;
  expect([problem?.code, problem?.what_to_do]).toEqual([verdict, expect.stringMatching(remedy)]);
  const access = (await doctor()).find(({ check }) => check === 'access');
  expect(access?.remedy).toBe(problem?.what_to_do);
  expect(sync.stderr).toContain(problem?.what_to_do);
  const cause = access?.message.split(/(?<=\.) Gave up/)[0] ?? '-';
  expect(problem?.message).toContain(cause);
  expect(sync.stderr).toContain(cause);
  const daemon = besideDaemon.has(title) ? await start() : undefined;
  await daemon?.shows(problems);

  meets(undefined);
  await daemon?.end();
  expect((await line.run('sync')).status).toBe(0);
  expect([await status(), (await doctor()).map(({ check }) => check)]).toEqual([[], []]);
  if (!daemon) return;
  const healthy = await start();
  await healthy.shows([]);
});

it.each([
  ['a file of two words', 'accessTokenFile: FILE', 'two words', /no usable access token/],
  ['a command that fails', 'accessTokenCommand: "cat FILE"', undefined, /The command of accessTokenCommand/],
])(
  'L40 L44 %s in place of a token is called so by each, not a refusal of the service',
  async (_, auth, text, cause) => {
    const { line, status, doctor, serve: start, service } = await besideService(6);
    const file = join(line.folder, 'token');
    if (text !== undefined) writeFileSync(file, text);
    const before = readFileSync(line.settings, 'utf8');
    const after = before.replace(`accessToken: ${service.token}`, auth.replace('FILE', file));
    expect(after).not.toBe(before);
    writeFileSync(line.settings, after, { mode: 0o600 });
    const sync = await line.run('sync');
    const [problem] = await status();
    expect([sync.status, problem?.code]).toEqual([77, 'access_refused']);
    expect(problem?.message).toMatch(cause);
    const access = (await doctor()).find(({ check }) => check === 'access');
    expect(access?.remedy).toBe(problem?.what_to_do);
    expect(sync.stderr).toContain(problem?.what_to_do);
    const shown = (await line.run('status')).stdout;
    expect(shown).toMatch(/^There is no usable access token/);
    for (const said of [shown, sync.stderr, problem?.message, access?.message])
      expect(said).not.toContain('refuses access');
    const daemon = await start();
    await daemon.shows(problem ? [problem] : []);
    await daemon.end();
    writeFileSync(file, service.token);
    expect((await line.run('sync')).status).toBe(0);
    expect([await status(), (await doctor()).map(({ check }) => check)]).toEqual([[], []]);
  },
);

it.each([
  ['another address', (text: string) => text.replace(/baseUrl: "[^"]*"/, 'baseUrl: "https://another.example"')],
  ['a sandbox', (text: string) => text.replace(/service: \{.*\n/, 'sandbox: { vendors: 5, seed: 1, churn: 0 }\n')],
])('L44 the settings name %s than the mirror is of: each refuses to call it right, alike', async (_, change) => {
  const line = await testbed({ level: 'command', service: {}, settings: 'accounts: [6BApk]\nadmin: { port: 0 }' });
  expect((await line.run('sync')).status).toBe(0);
  writeFileSync(line.settings, change(readFileSync(line.settings, 'utf8')));
  const sync = await line.run('sync');
  const status = await line.run('status');
  const doctor = await line.run('doctor');
  expect([sync.status, doctor.status]).toEqual([78, 78]);
  const [, message = '-'] = /^ {2}(.* mirrors .*), but the settings name/m.exec(status.stdout) ?? [];
  expect(status.stdout).toMatch(/^The settings name another service;? .*one thing to do/);
  for (const said of [sync.stderr, status.stdout, doctor.stdout]) {
    expect(said).toContain(message);
    expect(said).toContain('run `vendor-mirror doctor --accept-service`; otherwise name another database.');
  }
});

it('L40 L44 absences that the breaker withholds are named alike by each, and the remedy ends them', async () => {
  const { line, told, status, ofService, serve: start } = await besideService(40);
  for (const { vendorid } of ofService.listed().slice(0, 20)) ofService.vanish(Number(vendorid));
  const tripped = await line.run('reconcile');
  expect(tripped.status).toBe(1);
  const { problem, finding } = await told('last run');
  expect([finding?.message, finding?.remedy]).toEqual([problem?.message, problem?.what_to_do]);
  expect(tripped.stderr).toContain(problem?.what_to_do);
  const daemon = await start();
  await daemon.shows(await status());
  await daemon.end();
  const [, remedy = ''] = /`vendor-mirror (reconcile --approve-absences) N`/.exec(problem?.what_to_do ?? '') ?? [];
  expect((await line.run(...remedy.split(' '), '20')).status).toBe(0);
  expect(await told('last run')).toMatchObject({ problem: undefined, finding: undefined });
});

it('L40 L44 a queue that stands still is named alike by each, and the remedy ends it', async () => {
  const { line, told, status, meets, ofService, serve: start } = await besideService(3);
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  const mirror = new Driver(line.database);
  const at = timestamp(line.clock.now() - 40 * 60_000);
  mirror
    .prepare(
      `INSERT INTO dirty_vendors (account_id, vendorid, generation, marked_at, marked_ms, last_ms, due_at, due_ms, attempts, reason)
       VALUES ('6BApk', ?, (SELECT generation + 1 FROM _reading_counter), ?, 0, 0, ?, 0, 0, 'delivery')`,
    )
    .run(vendorid, at, at);
  mirror.exec('UPDATE _reading_counter SET generation = generation + 1');
  mirror.close();
  const { problem, finding } = await told('queue');
  expect(problem?.code).toBe('queue_stuck');
  expect([finding?.message, finding?.remedy]).toEqual([problem?.message, problem?.what_to_do]);
  meets(silence);
  const daemon = await start();
  await daemon.shows(await status());
  await daemon.end();
  meets(undefined);
  const [, remedy = ''] = /`vendor-mirror ([^`]+)`/.exec(problem?.what_to_do ?? '') ?? [];
  expect((await line.run(...remedy.split(' '))).status).toBe(0);
  expect(await told('queue')).toEqual({ problem: undefined, finding: undefined });
});

/** The answers of the service, changed. */
const rewritten =
  (change: (result: Page, url: URL) => void): Answer =>
  async (url, real) => {
    const answer = await real();
    if (!url.pathname.includes('bill_vendors') || answer.status !== 200) return answer;
    const document = (await new Response(ReadableStream.from(answer.body ?? [])).json()) as {
      response: { result: Page };
    };
    change(document.response.result, url);
    return Response.json(document, { headers: { date: answer.headers.get('date') ?? '' } });
  };

interface Page {
  bill_vendors?: Record<string, unknown>[];
  bill_vendor?: Record<string, unknown>;
  total: number;
}

it('L2 L44 a shortfall is named alike by each, and the remedy ends it', async () => {
  const more = 30;
  const { line, status, doctor, meets, serve: start } = await besideService(20);
  meets(rewritten((result) => 'bill_vendors' in result && (result.total += more)));
  const sync = await line.run('sync');
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'last_run', message: expect.stringContaining(`${more} `) as string }]);
  expect((await doctor()).map(({ message, remedy }) => [message, remedy])).toContainEqual([
    problems[0]?.message,
    problems[0]?.what_to_do,
  ]);
  expect([sync.status, sync.stderr]).toEqual([1, expect.stringContaining(problems[0]?.what_to_do ?? '-')]);
  const daemon = await start();
  await daemon.shows(problems);
  await daemon.end();
  const remedy = commandIn(problems[0]?.what_to_do).map((word) => (word === 'N' ? String(more) : word));
  expect(remedy).toContain('--accept-unreadable');
  expect((await line.run(...remedy)).status).toBe(0);
  expect(await status()).toEqual([]);
});

it('L13 L44 a field that the service no longer sends is named alike by each, until it is sent again', async () => {
  const field = 'city';
  const { line, status, meets, saidByDoctorAndDaemon } = await besideService(6);
  meets(
    rewritten(({ bill_vendors: rows = [], bill_vendor: row }) => {
      for (const one of row ? [row] : rows) Reflect.deleteProperty(one, field);
    }),
  );
  await line.run('sync');
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'fields_unsent', message: expect.stringContaining(field) as string }]);
  await saidByDoctorAndDaemon(problems);
  expect(await line.run('verify')).toMatchObject({ status: 1, stderr: expect.stringContaining(field) as string });
  meets(undefined);
  await line.run('sync');
  expect(await status()).toEqual([]);
});

it('L13 L44 a value that cannot be read is named alike by each, until it can be', async () => {
  const [field, value] = ['vis_state', 3];
  const { line, status, meets, ofService, saidByDoctorAndDaemon } = await besideService(6);
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  meets(
    rewritten(({ bill_vendors: rows = [], bill_vendor: row }) => {
      for (const one of row ? [row] : rows) if (one['vendorid'] === vendorid) one[field] = value;
    }),
  );
  await line.run('sync');
  const problems = await status();
  expect(problems).toMatchObject([{ code: 'values_unreadable', message: expect.stringContaining(field) as string }]);
  await saidByDoctorAndDaemon(problems);
  meets(undefined);
  await line.run('sync');
  expect(await status()).toEqual([]);
});

it.each([
  ['a page', page(500)],
  ['another record', form(200, 500, 'Broken.')],
])('L5 L44 a vendor that is broken alone (%s) is named alike by each, until it can be read', async (_, answer) => {
  const { line, status, meets, ofService, saidByDoctorAndDaemon } = await besideService(20);
  const [{ vendorid } = { vendorid: 0 }] = ofService.listed();
  ofService.vanish(Number(vendorid));
  meets((url, real, signal) => (url.pathname.endsWith(`/${String(vendorid)}`) ? answer(url, real, signal) : real()));
  await line.run('sync');
  const problems = await status();
  expect(problems).toMatchObject([
    { code: 'vendors_undecided', message: expect.stringContaining(String(vendorid)) as string },
  ]);
  await saidByDoctorAndDaemon(problems);
  meets(undefined);
  expect((await line.run('reconcile')).status).toBe(0);
  expect(await status()).toEqual([]);
});

it.each(['unverified', 'absent'] as const)(
  'L44 a callback that the service disabled (%s in its list) is named alike by each, and the remedy enables it',
  async (disabled) => {
    const beside = await besideService(6, { world: { disabled }, isDelivered: true });
    const { line, status, doctor, shut, service, isVerified, serve: start } = beside;
    const { sandbox, account } = service;
    const first = await start();
    await first.until(isVerified);
    await first.end();
    // The daemon may have been ended in the middle of a run.
    expect((await line.run('reconcile')).status).toBe(0);
    shut(true);
    for (const { id } of sandbox.callbacks(account).all()) sandbox.callbacks(account).disable(Date.now(), id);
    const daemon = await start();
    await daemon.until(async () => (await status()).length > 0);
    const problems = await status();
    expect(problems).toMatchObject([
      { code: 'callback_unverified', message: expect.stringContaining('it awaits a code of the service') as string },
    ]);
    await daemon.shows(problems);
    const found = await doctor();
    expect(found.map(({ message, remedy }) => [message, remedy])).toContainEqual([
      problems[0]?.message,
      problems[0]?.what_to_do,
    ]);
    expect(found.find(({ check }) => check === 'public address')?.result).toBe('problem');
    shut(false);
    expect((await line.run(...resendIn(problems))).status).toBe(0);
    await daemon.until(isVerified);
    expect((await doctor()).filter(({ check }) => check !== 'last run')).toEqual([]);
    await daemon.shows([]);
  },
);
