/** Faults that were planted one by one: `doctor` names the cause of each, and the remedy for that cause. */
import { chmodSync, linkSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type * as fileSystems from '../../../src/store/sqlite/file-systems.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import {
  type PathTokens,
  answerTo,
  answerToProbe,
  challengeHeader,
  isProbe,
  proofHeader,
} from '../../../src/webhook/address.ts';
import { listen } from '../../support/network/listen.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import type { CommandOptions } from '../../support/testbed/command.ts';
import type { SandboxTestbedOptions } from '../../support/testbed/sandbox.ts';

const free = vi.hoisted(() => ({ bytes: undefined as number | undefined }));

vi.mock('../../../src/store/sqlite/file-systems.ts', async (original) => {
  const real = await original<typeof fileSystems>();
  return { ...real, freeBytes: (path: string) => free.bytes ?? real.freeBytes(path) };
});

/** Where an installation lies, once it is made: the ports stand in its settings, so they are taken before. */
interface Place {
  folder?: string;
}

interface PublicAddressOptions {
  readonly status?: number;
  /** Whose daemon answers; nobody's unless told. */
  readonly place?: Place;
  /** What the proxy does to deliveries. */
  readonly harm?: 'drops the signature' | 'rewrites the path' | 'changes the body';
}

/** Something that answers as the listener of an installation does, behind a proxy that may do harm. @returns the port */
async function publicAddress({ status = 200, place, harm }: PublicAddressOptions = {}): Promise<number> {
  const server = createServer((request, response) => {
    void (async () => {
      const { headers, url = '/' } = request;
      const challenge = headers[challengeHeader];
      const tokens = place?.folder === undefined ? new Map() : pathTokensIn(join(place.folder, 'secrets.db'));
      const by = { tokens, nobodysToken: new Secret('k3yOfNobody') };
      const body = await buffer(request);
      const answer = (code: number, proof: string | undefined): void =>
        void response.writeHead(code, proof === undefined ? {} : { [proofHeader]: proof }).end();
      if (request.method === 'GET') {
        answer(status, answerTo(challenge, by));
        return;
      }
      const path = harm === 'rewrites the path' ? url.replace('/webhooks', '') : url;
      if (!isProbe(path, challenge)) {
        answer(404, undefined);
        return;
      }
      const [, signature] = Object.entries(headers).find(([name]) => name.endsWith('-hmac-sha256')) ?? [];
      const content = {
        signature: harm === 'drops the signature' ? undefined : String(signature),
        body: harm === 'changes the body' ? Buffer.from(decodeURIComponent(body.toString())) : body,
      };
      answer(200, answerToProbe(String(challenge), content, by));
    })();
  });
  return listen(server);
}

function pathTokensIn(secrets: string): PathTokens {
  const driver = new Driver(secrets, { readonly: true });
  const rows = driver.prepare<[], { account_id: string; path_token: string }>('SELECT * FROM path_tokens').all();
  driver.close();
  return new Map(rows.map(({ account_id, path_token }) => [account_id, new Secret(path_token)]));
}

type Line = Testbed<'command'>;

interface Finding {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly remedy: string | null;
}

interface Fault {
  readonly title: string;
  readonly plant: () => Promise<Line>;
  readonly check: string;
  readonly exit: number;
  readonly says: string | RegExp;
  readonly remedy: string;
}

const account = ['--account', '6BApk'];
const ports = 'listener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }';
const day = 86_400_000;

/** The times of a certificate of so many days, of which so many are left. */
function validFor(days: number, left: number): { from: number; until: number } {
  const until = systemClock.now() + left * day;
  return { from: until - days * day, until };
}

/** An installation that mirrored everything once. */
async function installed(options: Partial<CommandOptions> = {}, world: SandboxTestbedOptions = {}): Promise<Line> {
  const sandbox = await testbed({ level: 'sandbox', vendors: 12, ...world });
  const line = await testbed({ level: 'command', service: sandbox, settings: ports, ...options });
  await line.run('sync', ...account);
  return line;
}

function change(line: Line, from: string | RegExp, to: string): Line {
  writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace(from, to));
  return line;
}

function write(path: string, sql: string, ...values: unknown[]): void {
  const driver = new Driver(path);
  driver.prepare(sql).run(...values);
  driver.close();
}

const secretsOf = ({ folder }: Line): string => join(folder, 'secrets.db');

const pathToken = (line: Line): string =>
  ask<{ path_token: string }>(secretsOf(line), `SELECT path_token FROM path_tokens WHERE account_id = '6BApk'`)[0]!
    .path_token;

/** A daemon is said to run there until the test ends. */
function daemonAt({ database }: Line): void {
  const lock = takeSideLock(database, 0);
  onTestFinished(() => lock.release());
}

/** An installation whose daemon runs, behind a proxy that does what it is told. */
async function served(harm?: PublicAddressOptions['harm'], behind?: PublicAddressOptions): Promise<Line> {
  const place: Place = {};
  const port = await publicAddress({ place });
  const publicPort = await publicAddress(behind ?? { place, ...(harm && { harm }) });
  const settings = `listener: { host: 127.0.0.1, port: ${port}, publicUrl: "http://127.0.0.1:${publicPort}" }`;
  const line = await installed({ settings });
  place.folder = line.folder;
  daemonAt(line);
  return line;
}

/** An installation whose service lists a callback of ours at that address. */
async function registered(base: string): Promise<Line> {
  const line = await installed({
    settings: ports.replace('port: 0 }', 'port: 0, publicUrl: "http://127.0.0.1:1" }'),
  });
  await line.run('callbacks', 'list', ...account);
  const address = `${base}/webhooks/6BApk/${pathToken(line)}`;
  expect((await line.run('callbacks', 'register', 'bill_vendor', address, ...account)).status).toBe(0);
  return line;
}

const elsewhere = { baseUrl: 'https://service.example', token: 'some-token' };

const faults: readonly Fault[] = [
  {
    title: 'the token is not known',
    plant: async () => change(await installed(), 'sandbox-token', 'another'),
    check: 'access',
    exit: 77,
    says: 'did not accept the token',
    remedy: 'Set a new token as service.auth.accessToken.',
  },
  {
    title: 'the file of the token is missing',
    plant: async () => change(await installed(), 'accessToken: sandbox-token', 'accessTokenFile: no-such-token'),
    check: 'access',
    exit: 77,
    says: 'The file of accessTokenFile cannot be read: ENOENT.',
    remedy: 'the file of service.auth.accessTokenFile, as one line that this user may read',
  },
  {
    title: 'the settings name an account that the token does not open',
    plant: async () => change(await installed(), 'accounts: [6BApk, other]', 'accounts: [9Wrong]'),
    check: 'access',
    exit: 77,
    says: 'denied access',
    remedy: 'Check the id of the account. If it is right, give the person behind the token a role in the business',
  },
  ...(
    [
      [
        'a page of a proxy comes instead of a record',
        200,
        '<html>welcome</html>',
        'instead of JSON',
        'Check the path in service.baseUrl',
        69,
      ],
      [
        'the base path is wrong, and its server says so',
        404,
        '<html>no such page</html>',
        '404',
        'Check the path in service.baseUrl',
        77,
      ],
      ['the token was revoked', 401, '{}', 'token', 'Set a new token as service.auth.accessToken', 77],
    ] as const
  ).map(([title, status, body, says, remedy, exit]) => ({
    title,
    plant: () =>
      testbed({
        level: 'command',
        settings: ports,
        service: elsewhere,
        fetch: () => Promise.resolve(new Response(body, { status })),
      }),
    ...{ check: 'access', exit, says, remedy },
  })),
  ...(
    [
      ['nothing answers', 'ECONNREFUSED', 'refused', 'Check the port'],
      [
        'the certificate of the service is self-signed',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'is self-signed',
        'NODE_EXTRA_CA_CERTS',
      ],
      ['the certificate of the service has expired', 'CERT_HAS_EXPIRED', 'has expired', 'Renew the certificate'],
      ['nobody known signed the certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate', 'NODE_EXTRA_CA_CERTS'],
      [
        'the certificate of the service is not valid yet',
        'CERT_NOT_YET_VALID',
        'certificate',
        'Set the clock of this machine',
      ],
      [
        'the certificate is of another name',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'certificate',
        'Use the host name of the certificate',
      ],
      [
        'no name server knows the name of the service',
        'ENOTFOUND',
        'service.example',
        'Check the spelling of the name',
      ],
      ['no name server answers', 'EAI_AGAIN', 'service.example', 'Check the name server'],
    ] as const
  ).map(([title, code, says, remedy]) => ({
    title,
    plant: () =>
      testbed({
        ...{ level: 'command', settings: ports, service: elsewhere },
        fetch: () => Promise.reject(Object.assign(new Error(code), { code })),
      }),
    ...{ check: 'access', exit: 69, says, remedy },
  })),
  {
    title: 'the certificate of the service expires in twenty days',
    plant: () => installed({ certificateTimes: () => Promise.resolve(validFor(90, 20.5)) }),
    check: 'certificate',
    exit: 0,
    says: /^The certificate of 127\.0\.0\.1:\d+ is valid until \d{4}-\d\d-\d\d: 20 days from now\.$/,
    remedy: 'Renew it',
  },
  ...(
    [
      [500, 0, '500 MB are free'],
      [0, 74, /^The disk that holds the mirror is full: 0 bytes are free\.$/],
      [
        20,
        74,
        /^Only 20 MB are free beside .+: they are reserved for deliveries, so the daemon's sweeps wait; `sync` by command runs\.$/,
      ],
    ] as const
  ).map(([megabytes, exit, says]) => ({
    title: `${megabytes} MB are free`,
    async plant() {
      const line = await installed();
      free.bytes = megabytes * 2 ** 20;
      return line;
    },
    ...{ check: 'disk', exit, says, remedy: 'Free space' },
  })),
  {
    title: 'nothing is mirrored yet',
    plant: () => testbed({ level: 'command', service: {}, settings: ports }),
    check: 'database',
    exit: 0,
    says: '',
    remedy: 'Run `vendor-mirror sync`.',
  },
  {
    title: 'F7 the file is no database',
    async plant() {
      const line = await testbed({ level: 'command', service: {}, settings: ports });
      writeFileSync(line.database, 'no database at all, but text that is long enough to be looked at');
      return line;
    },
    check: 'database',
    exit: 74,
    says: 'vendors.db',
    remedy: '',
  },
  ...(
    [
      ['phone', '`vendor-mirror forget --field phone`'],
      ['phon', 'Check the spelling'],
    ] as const
  ).map(([field, remedy]) => ({
    title: `${field} is excluded after it was mirrored`,
    plant: async () =>
      change(await installed({ settings: `${ports}\nvendors: { exclude: [] }` }), 'exclude: []', `exclude: [${field}]`),
    ...{ check: 'privacy', exit: 0, says: field, remedy },
  })),
  {
    title: 'the journal has grown',
    async plant() {
      const line = await installed();
      writeFileSync(`${line.database}-wal`, '');
      truncateSync(`${line.database}-wal`, 65 * 2 ** 20);
      return line;
    },
    check: 'database',
    exit: 0,
    says: 'its journal has grown to 65 MB',
    remedy: 'keeps a query open',
  },
  {
    title: 'F7 the mirror is damaged',
    async plant() {
      const line = await installed();
      const driver = new Driver(line.database);
      driver.unsafeMode();
      driver.pragma('writable_schema = 1');
      driver.exec("update sqlite_schema set rootpage = 2 where name = 'vendors_by_state'");
      driver.close();
      return line;
    },
    check: 'database',
    exit: 74,
    says: 'is damaged',
    remedy: 'reads everything from the service again',
  },
  {
    title: 'the clock of this machine was behind at the last sweep',
    plant: () => installed({ clock: { ...systemClock, now: () => systemClock.now() - 90_000 } }),
    check: 'freshness',
    exit: 0,
    says: /^The clock of this machine is 1 min behind the service's/,
    remedy: 'NTP',
  },
  {
    title: 'the clock of this machine is behind since the last sweep',
    async plant() {
      let behind = 0;
      const line = await installed({ clock: { ...systemClock, now: () => systemClock.now() - behind } });
      behind = 90_000;
      return line;
    },
    check: 'clock',
    exit: 0,
    says: /(89|90|91) s behind/,
    remedy: 'NTP',
  },
  {
    title: 'a scope is missing',
    async plant() {
      const sandbox = await testbed({ level: 'sandbox', vendors: 3 });
      sandbox.sandbox.access.grant('narrow', ['user:bill_vendors:read']);
      return testbed({ level: 'command', service: { ...sandbox, token: 'narrow' }, settings: ports });
    },
    check: 'gateways',
    exit: 0,
    says: 'scope',
    remedy: 'user:online_payments:read',
  },
  {
    title: 'the list of gateways is refused, whatever the scopes',
    plant: () => installed({}, { world: { gatewayPath: 'system/gateways' } }),
    check: 'gateways',
    exit: 0,
    says: '404',
    remedy: 'stays as it was',
  },
  ...(['ignored', 'echoed'] as const).map((paging) => ({
    title: `A4 the service ignores the page parameter: ${paging}`,
    plant: () => installed({}, { world: { paging } }),
    ...{ check: 'paging', exit: 1, says: 'answers the second page with the first', remedy: 'service.paging.pageParam' },
  })),
  ...(['404', '405'] as const).map((readOne) => ({
    title: `the service reads no vendor by its number: ${readOne}`,
    plant: () => installed({}, { world: { readOne } }),
    ...{
      check: 'reads by number',
      exit: 0,
      says: 'does not answer when read by number',
      remedy: 'Nothing to do',
    },
  })),
  {
    title: 'the service ignores the filter by state',
    plant: () => installed({}, { world: { visStateFilter: 'ignored' } }),
    check: 'filter by state',
    exit: 0,
    says: 'ignores the filter by state',
    remedy: 'Nothing to do',
  },
  {
    title: 'another program has the port of the listener',
    plant: async () => {
      const taken = await publicAddress();
      return installed({ settings: `listener: { host: 127.0.0.1, port: ${taken} }\nadmin: { port: 0 }` });
    },
    check: 'ports',
    exit: 69,
    says: 'EADDRINUSE',
    remedy: 'choose another listener.port',
  },
  {
    title: 'the address of the listener is of another machine',
    plant: () => installed({ settings: 'listener: { host: 192.0.2.1, port: 0 }\nadmin: { port: 0 }' }),
    check: 'ports',
    exit: 69,
    says: '192.0.2.1',
    remedy: 'listener.host is not an address of this machine',
  },
  {
    title: 'nobody answers at the public address, because no daemon runs',
    plant: () => installed({ settings: ports.replace('port: 0 }', 'port: 0, publicUrl: "http://127.0.0.1:1" }') }),
    check: 'public address',
    exit: 0,
    says: '',
    remedy: 'serve',
  },
  {
    title: 'another daemon answers at the public address',
    plant: () => served(undefined, {}),
    check: 'public address',
    exit: 69,
    says: 'answered by something other than the daemon of this installation',
    remedy: 'where the proxy forwards it',
  },
  {
    title: 'nobody answers at the public address but a proxy that finds no listener',
    plant: () => served(undefined, { status: 502 }),
    check: 'public address',
    exit: 69,
    says: 'answers with 502',
    remedy: 'the proxy, the firewall',
  },
  {
    title: 'another program answers at the public address, and no daemon runs',
    plant: async () => {
      const port = await publicAddress();
      return installed({
        settings: `listener: { host: 127.0.0.1, port: 0, publicUrl: "http://127.0.0.1:${port}" }\nadmin: { port: 0 }`,
      });
    },
    check: 'public address',
    exit: 69,
    says: 'answers, but no daemon of this installation runs',
    remedy: 'where the proxy forwards it',
  },
  {
    title: 'nobody answers at the public address',
    async plant() {
      const line = await served();
      return change(line, /publicUrl: "[^"]+"/, 'publicUrl: "http://127.0.0.1:1"');
    },
    check: 'public address',
    exit: 69,
    says: 'refused',
    remedy: 'Check the port',
  },
  {
    title: 'the proxy drops the signature header',
    plant: () => served('drops the signature'),
    check: 'delivery path',
    exit: 69,
    says: 'The signature header of deliveries',
    remedy: 'Let the proxy pass all request headers on',
  },
  {
    title: 'the proxy rewrites the path',
    plant: () => served('rewrites the path'),
    check: 'delivery path',
    exit: 69,
    says: 'is answered with 404 by something else',
    remedy: 'with the path as it is',
  },
  {
    title: 'the proxy changes the body',
    plant: () => served('changes the body'),
    check: 'delivery path',
    exit: 69,
    says: 'The body or the signature of a delivery is changed',
    remedy: 'inspects or rewrites requests',
  },
  {
    title: 'the certificate of the public address expires in ten days',
    async plant() {
      const place: Place = {};
      const port = await publicAddress({ place });
      const settings = `listener: { host: 127.0.0.1, port: ${port}, publicUrl: "https://mirror.example" }`;
      const line = await installed({
        settings,
        fetch: (url, request) => {
          const here = String(url).replace('https://mirror.example', `http://127.0.0.1:${port}`);
          return fetch(here, request);
        },
        certificateTimes: ({ hostname }) =>
          Promise.resolve(hostname === 'mirror.example' ? validFor(45, 10.5) : undefined),
      });
      place.folder = line.folder;
      daemonAt(line);
      return line;
    },
    check: 'certificate of publicUrl',
    exit: 0,
    says: /^The certificate of mirror\.example is valid until .*: 10 days from now\.$/,
    remedy: 'what should renew it automatically',
  },
  {
    title: 'F17 others may read the secrets',
    async plant() {
      const line = await installed();
      chmodSync(secretsOf(line), 0o644);
      return line;
    },
    check: 'secrets',
    exit: 74,
    says: 'can be read by others',
    remedy: 'chmod 600',
  },
  ...(
    [
      ['database', ({ database }) => database],
      ['secrets', secretsOf],
    ] as const satisfies [string, (line: Testbed<'command'>) => string][]
  ).map(([check, fileOf]) => ({
    title: `F19 the file of the ${check} has a second name`,
    async plant() {
      const line = await installed();
      linkSync(fileOf(line), join(line.folder, 'backup.db'));
      return line;
    },
    ...{
      check,
      exit: 74,
      says: /has a second name \(a hard link\)/,
      remedy: 'Remove the other name, which find / -samefile /',
    },
  })),
  {
    title: 'K25 the running daemon has another file of secrets open',
    async plant() {
      const line = await served();
      write(line.database, `INSERT INTO _daemon_files (file, inode) VALUES ('secrets', '1')`);
      return line;
    },
    check: 'secrets',
    exit: 74,
    says: 'is not the file that the running daemon has open',
    remedy: 'Check the path',
  },
  {
    title: 'K47 the secrets belong to another mirror',
    plant: async () => {
      const line = await installed();
      return change(line, line.database, join(line.folder, 'second.db'));
    },
    check: 'opening',
    exit: 75,
    says: 'belongs to another mirror',
    remedy: 'name another file in `secrets`',
  },
  {
    title: 'K23 the mirror belongs to the service of another address',
    plant: async () => change(await installed(), '127.0.0.1:', 'localhost:'),
    check: 'opening',
    exit: 78,
    says: /mirrors http:\/\/127\.0\.0\.1:\d+, but the settings name http:\/\/localhost:\d+/,
    remedy: '`vendor-mirror doctor --accept-service`',
  },
  {
    title: 'our callback leads to where this machine was before',
    plant: () => registered('http://old.example'),
    check: 'callbacks',
    exit: 0,
    says: /^Our callback \d+ leads to http:\/\/old\.example, and listener\.publicUrl is http:\/\/127\.0\.0\.1:1\.$/,
    remedy: '`vendor-mirror serve` registers it and removes the old one',
  },
  {
    title: 'our callback is not verified, because no code arrives',
    plant: () => registered('http://127.0.0.1:1'),
    check: 'callbacks',
    exit: 0,
    says: 'is not verified, so nothing is delivered: it awaits a code of the service.',
    remedy: '`vendor-mirror callbacks resend',
  },
  {
    title: 'K10 our callback is not verified, although a code came, which may be the one from before',
    async plant() {
      const line = await registered('http://127.0.0.1:1');
      write(
        secretsOf(line),
        `INSERT INTO verifiers (account_id, verifier, state, received_at) VALUES ('6BApk', 'a-code', 'candidate', '2026-11-20 12:00:00.000')`,
      );
      return line;
    },
    check: 'callbacks',
    exit: 0,
    says: 'a code came for it, and the service has not accepted it yet',
    remedy: 'the same one again is taken too',
  },
  {
    title: 'the mirror is behind its schedule',
    plant: async () => change(await installed(), 'admin: { port: 0 }', 'admin: { port: 0, maxStaleness: 1ms }'),
    check: 'freshness',
    exit: 0,
    says: /Changes of the last .* may be missing; admin\.maxStaleness allows/,
    remedy: 'start `vendor-mirror serve`',
  },
  {
    title: 'vendors were given up',
    async plant() {
      const line = await installed();
      const columns = '(account_id, vendorid, generation, marked_at, attempts, reason, last_error)';
      write(
        line.database,
        `INSERT INTO dirty_vendors ${columns} VALUES ('6BApk', 7, 1, '2026-11-20 12:00:00.000', 12, 'retry', 'It broke.')`,
      );
      return line;
    },
    check: 'queue',
    exit: 0,
    says: 'One changed vendor could not be read; the next reconciliation tries again. The cause: It broke.',
    remedy: '`vendor-mirror deliveries retry`',
  },
];

beforeEach(() => {
  free.bytes = undefined;
});

it('doctor accepts a public address at which the daemon of this installation answers', async () => {
  const { status, stdout } = await (await served()).run('doctor', '--json', ...account);
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  const of = (name: string): Finding | undefined => checks.find(({ check }) => check === name);
  expect([status, of('ports')]).toEqual([0, undefined]);
  expect(of('public address')).toMatchObject({
    result: 'ok',
    message: expect.stringContaining('leads to the daemon of this installation') as string,
  });
  expect(of('delivery path')?.result).toBe('ok');
  expect(of('callbacks')).toMatchObject({
    result: 'warning',
    message: 'No callback of this installation is registered, so nothing is delivered.',
    remedy: 'The running daemon registers and verifies it before its next run, and at once on SIGHUP.',
  });
});

describe(`doctor, with ${faults.length} faults`, () => {
  it.each(faults)('names cause and remedy if $title', async ({ title, plant, check, exit, says, remedy }) => {
    const line = await plant();
    const which = title.includes('account that the token') ? [] : account;
    const { status, stdout } = await line.run('doctor', '--json', ...which);
    expect(stdout).not.toMatch(/\.\.(?![./\w])/);
    const { checks } = JSON.parse(stdout) as { checks: Finding[] };
    const found = checks.find((one) => one.check === check);
    expect(found?.result).toBe(exit === 0 ? 'warning' : 'problem');
    expect(found?.message).toMatch(says);
    expect(found?.remedy).toContain(remedy);
    expect(status).toBe(exit);
    // Without access, nothing more is asked of the service.
    if (check === 'access') expect(checks.map((one) => one.check)).not.toContain('paging');
    // Nothing else is called a problem that follows from it.
    const others = checks.filter((one) => one.result === 'problem' && one.check !== check);
    expect(others.map((one) => one.check)).toEqual([]);
    expect(stdout).not.toContain('sandbox-token');
  });

  it('K34 refuses an event that does not exist before anything else', async () => {
    const line = await installed();
    change(line, 'port: 0 }', 'port: 0, events: [bill_vendr] }');
    const misspelt = await line.run('doctor', ...account);
    expect([misspelt.status, misspelt.stderr]).toEqual([
      78,
      expect.stringContaining('listener.events.0: should be an event'),
    ]);
  });
});
