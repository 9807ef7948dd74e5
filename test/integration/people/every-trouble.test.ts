/**
 * Troubles with a service, one by one: the command that meets one, `status`, `/api/status` and `doctor` name the same cause and the same
 * remedy; once it is gone, none of them speaks of it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeFetch } from '../../../src/api/http/node-fetch.ts';
import { systemClock, timestamp } from '../../../src/domain/clock.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { testbed } from '../../support/testbed.ts';

type Answer = () => Promise<Response>;

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

/** Delays between attempts are a thousandth of the usual ones. */
const hurried = {
  ...systemClock,
  timer: (ms: number, run: () => void) => systemClock.timer(ms < 20_000 ? ms / 1_000 : ms, run),
};

interface Status {
  readonly verdict: { readonly code: string };
  readonly accounts: readonly {
    readonly problems: readonly { readonly code: string; readonly message: string; readonly what_to_do: string }[];
  }[];
}

interface Finding {
  readonly check: string;
  readonly message: string;
  readonly remedy: string | null;
}

it.each(troubles)('L40 L44 %s is named alike by each', async (_, answer, verdict, remedy) => {
  const sandbox = await testbed({ level: 'sandbox', vendors: 12 });
  const real = nodeFetch();
  let isTroubled = false;
  const line = await testbed({
    level: 'command',
    service: sandbox,
    settings: 'accounts: [6BApk]\nlistener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }',
    fetch: (url, request) => (isTroubled ? answer() : real(url, request)),
    clock: hurried,
  });
  const told = async () => {
    const sync = await line.run('sync');
    const status = JSON.parse((await line.run('status', '--json')).stdout) as Status;
    const doctor = JSON.parse((await line.run('doctor', '--json')).stdout) as { checks: readonly Finding[] };
    const problem = status.accounts[0]?.problems[0];
    return {
      sync,
      verdict: status.verdict.code,
      problem,
      access: doctor.checks.find(({ check }) => check === 'access'),
    };
  };
  expect((await line.run('sync')).status).toBe(0);

  isTroubled = true;
  const { sync, problem, access, ...during } = await told();
  expect(during.verdict).toBe(verdict);
  expect(problem?.what_to_do).toMatch(remedy);
  expect(access?.remedy).toBe(problem?.what_to_do);
  expect(sync.stderr).toContain(problem?.what_to_do);
  const cause = access?.message.split(/(?<=\.) Gave up/)[0] ?? '-';
  expect(problem?.message).toContain(cause);
  expect(sync.stderr).toContain(cause);

  isTroubled = false;
  expect(await told()).toMatchObject({ sync: { status: 0 }, verdict: 'correct', access: { remedy: null } });
});

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

async function besideService(vendors: number) {
  const service = await testbed({ level: 'sandbox', vendors });
  const line = await testbed({
    level: 'command',
    service,
    settings: 'accounts: [6BApk]\nlistener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }',
  });
  const told = async (check: string) => {
    const { accounts } = JSON.parse((await line.run('status', '--json')).stdout) as Status;
    const { checks } = JSON.parse((await line.run('doctor', '--json')).stdout) as { checks: readonly Finding[] };
    const [problem] = accounts[0]?.problems ?? [];
    return { problem, finding: checks.find((one) => one.check === check) };
  };
  expect((await line.run('sync')).status).toBe(0);
  return { line, told, ofService: service.sandbox.vendors('6BApk') };
}

it('L40 L44 absences that the breaker withholds are named alike by each, and the remedy ends them', async () => {
  const { line, told, ofService } = await besideService(40);
  for (const { vendorid } of ofService.listed().slice(0, 20)) ofService.vanish(Number(vendorid));
  const tripped = await line.run('reconcile');
  expect(tripped.status).toBe(1);
  const { problem, finding } = await told('last run');
  expect([finding?.message, finding?.remedy]).toEqual([problem?.message, problem?.what_to_do]);
  expect(tripped.stderr).toContain(problem?.what_to_do);
  const [, remedy = ''] = /`vendor-mirror (reconcile --approve-absences) N`/.exec(problem?.what_to_do ?? '') ?? [];
  expect((await line.run(...remedy.split(' '), '20')).status).toBe(0);
  expect(await told('last run')).toMatchObject({ problem: undefined, finding: undefined });
});

it('L40 L44 a queue that stands still is named alike by each, and the remedy ends it', async () => {
  const { line, told, ofService } = await besideService(3);
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
  const [, remedy = ''] = /`vendor-mirror ([^`]+)`/.exec(problem?.what_to_do ?? '') ?? [];
  expect((await line.run(...remedy.split(' '))).status).toBe(0);
  expect(await told('queue')).toMatchObject({ problem: undefined, finding: { remedy: null } });
});
