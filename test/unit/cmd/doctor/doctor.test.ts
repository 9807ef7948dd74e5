import Driver from 'better-sqlite3';
import { chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { takeSideLock } from '../../../../src/store/files/side-lock.ts';
import type { PathTokens } from '../../../../src/webhook/receive/account-of-path.ts';
import { answerTo, challengeHeader, proofHeader } from '../../../../src/webhook/receive/installation-proof.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

const account = ['--account', '6BApk'];
const freePorts = 'listener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }';

interface Check {
  readonly account: string | null;
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly remedy: string | null;
}

interface Diagnosis {
  readonly status: number;
  readonly ok: boolean;
  readonly of: (check: string) => Check | undefined;
}

async function diagnose(line: Testbed<'command'>): Promise<Diagnosis> {
  const { status, stdout } = await line.run('doctor', '--json', ...account);
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(checks.filter(({ result, remedy }) => (result === 'ok') !== (remedy === null))).toEqual([]);
  return { status, ok, of: (name) => checks.find(({ check }) => check === name) };
}

/** Where an installation lies, once it is made: the ports stand in its settings, so they are taken before. */
interface Place {
  folder?: string;
}

/** Something that answers on a port as a listener's health does, or otherwise; as that installation's daemon if told. */
async function answering(status = 200, place?: Place): Promise<number> {
  const server = createServer(({ headers }, response) => {
    const tokens = place?.folder === undefined ? new Map() : pathTokensIn(join(place.folder, 'secrets.db'));
    const proof = answerTo(headers[challengeHeader], tokens);
    response.writeHead(status, proof === undefined ? {} : { [proofHeader]: proof }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function pathTokensIn(secrets: string): PathTokens {
  const driver = new Driver(secrets, { readonly: true });
  const rows = driver.prepare<[], { account_id: string; path_token: string }>('SELECT * FROM path_tokens').all();
  driver.close();
  return new Map(rows.map(({ account_id, path_token }) => [account_id, new Secret(path_token)]));
}

/** A daemon is said to run there until the test ends. */
function daemonAt({ database }: Testbed<'command'>): void {
  const lock = takeSideLock(database, 0);
  onTestFinished(() => lock.release());
}

describe('doctor', () => {
  it('says of everything how it is, a line each', async () => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    await line.run('sync', ...account);
    const { status, stdout, stderr } = await line.run('doctor', ...account);
    expect([status, stderr]).toEqual([0, '']);
    const steady = stdout.replaceAll(line.folder, '.').replaceAll(/[\d,.]+ MB/g, 'N MB');
    expect(steady).toMatchInlineSnapshot(`
      "ok       settings: They name one account.
      ok       database: ./vendors.db is in order, N MB.
      ok       secrets: ./secrets.db can be read only by its owner.
      ok       disk: N MB are free beside the database.
      ok       privacy: No field is excluded.
      ok       6BApk access: The token can read 30 vendors, on 6 pages of 5.
      ok       6BApk clock: The clocks of this machine and of the service agree.
      ok       6BApk paging: The second page differs from the first.
      ok       6BApk filters: The service uses the requested page size, filters vendors by state, and sends its time.
      ok       6BApk reads by number: The service answers for vendor 1006.
      ok       6BApk gateways: The token can read 2 gateways.
      ok       6BApk callbacks: The token can read 0 callbacks.
      ok       ports: The daemon can listen on 0 and 0.
      ok       public address: listener.publicUrl is not set: no webhooks, only sweeps.
      "
    `);
  });

  it('warns where the journal of the mirror has grown, which a query that is never ended does', async () => {
    const line = await testbed({ level: 'command', service: {}, settings: freePorts });
    await line.run('sync', ...account);
    writeFileSync(`${line.database}-wal`, '');
    truncateSync(`${line.database}-wal`, 65 * 2 ** 20);
    expect((await diagnose(line)).of('database')).toMatchObject({
      result: 'warning',
      remedy: expect.stringContaining('keeps a query open') as string,
    });
  });

  it('warns where nothing is mirrored yet', async () => {
    const { ok, of } = await diagnose(await testbed({ level: 'command', service: {} }));
    expect([ok, of('database')]).toMatchObject([true, { result: 'warning', remedy: 'Run `vendor-mirror sync`.' }]);
  });

  it('F7 finds a damaged database', async () => {
    const line = await testbed({ level: 'command', service: {} });
    await line.run('sync', ...account);
    const driver = new Driver(line.database);
    driver.unsafeMode();
    driver.pragma('writable_schema = 1');
    driver.exec("update sqlite_schema set rootpage = 2 where name = 'vendors_not_present'");
    driver.close();
    const { status, of } = await diagnose(line);
    expect([status, of('database')?.result]).toEqual([74, 'problem']);
    writeFileSync(line.database, 'no database at all, but text that is long enough to be looked at');
    expect((await diagnose(line)).of('database')?.message).toContain(line.database);
  });

  it('F17 finds secrets that others may read', async () => {
    const line = await testbed({ level: 'command', service: {} });
    await line.run('sync', ...account);
    chmodSync(join(line.folder, 'secrets.db'), 0o644);
    const { status, of } = await diagnose(line);
    expect(status).toBe(74);
    expect(of('secrets')?.remedy).toBe(`Run: chmod 600 ${join(line.folder, 'secrets.db')}`);
    rmSync(join(line.folder, 'secrets.db'));
    expect((await diagnose(line)).of('secrets')?.result).toBe('ok');
  });

  it('exits with 77 where the token is refused, and looks no further there', async () => {
    const { baseUrl } = await testbed({ level: 'sandbox' });
    const { status, of } = await diagnose(await testbed({ level: 'command', service: { baseUrl, token: 'not-it' } }));
    expect(status).toBe(77);
    expect(of('access')).toMatchObject({ account: '6BApk', result: 'problem' });
    expect(of('paging')).toBeUndefined();
  });

  it('exits with 69 where nobody answers, soon', async () => {
    const { baseUrl, stop } = await testbed({ level: 'sandbox' });
    await stop();
    const { status, of } = await diagnose(await testbed({ level: 'command', service: { baseUrl, token: 't' } }));
    expect([status, of('access')?.message]).toMatchObject([69, expect.stringContaining('refused')]);
  });

  it('K38 waits as long as the service asks, says so, and finds nothing wrong', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: sandbox });
    await line.run('sync', ...account);
    sandbox.sandbox.faults.next({ kind: '429_date', retryAfter: '3' });
    const { status, stderr } = await line.run('doctor', ...account);
    expect(status).toBe(0);
    expect(stderr).toMatch(/the service asks for a wait of [23] s/);
  });

  it('A4 finds a page parameter that is ignored', async () => {
    for (const paging of ['ignored', 'echoed'] as const) {
      const { status, of } = await diagnose(await testbed({ level: 'command', service: { world: { paging } } }));
      expect([status, of('paging')?.remedy]).toMatchObject([1, expect.stringContaining('service.paging.pageParam')]);
    }
  });

  it('A4 finds pages that call themselves by another number', async () => {
    const line = await testbed({
      level: 'command',
      service: {},
      async fetch(input, init) {
        const answer = await globalThis.fetch(input, init);
        if (!(input instanceof URL && input.searchParams.get('page') === '2')) return answer;
        return Response.json(JSON.parse((await answer.text()).replace(/"page": ?2\b/, '"page": 1')));
      },
    });
    const { status, of } = await diagnose(line);
    expect([status, of('paging')?.result]).toEqual([1, 'problem']);
  });

  it.each(['404', '405'] as const)('warns where no vendor is read by number (%s)', async (readOne) => {
    const { status, of } = await diagnose(await testbed({ level: 'command', service: { world: { readOne } } }));
    expect([status, of('reads by number')?.result]).toEqual([0, 'warning']);
  });

  it('names the scopes that are missing', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    sandbox.sandbox.access.grant('narrow', ['user:bill_vendors:read']);
    const { status, of } = await diagnose(
      await testbed({ level: 'command', service: { ...sandbox, token: 'narrow' } }),
    );
    expect(status).toBe(0);
    expect(of('gateways')).toMatchObject({
      result: 'warning',
      remedy: expect.stringContaining('user:online_payments:read') as string,
    });
    expect(of('callbacks')?.result).toBe('ok');
  });

  it('measures our clock against that of the service', async () => {
    const sandbox = await testbed({ level: 'sandbox' });
    const late = { ...systemClock, now: () => systemClock.now() - 90_000 };
    const { of } = await diagnose(await testbed({ level: 'command', service: sandbox, clock: late }));
    expect(of('clock')).toMatchObject({
      result: 'warning',
      message: expect.stringMatching(/(89|90|91) s behind/) as string,
    });
  });

  describe('tries the public address', () => {
    const listenerAt = (port: number, publicPort: number, path = ''): { settings: string } => ({
      settings: `listener: { host: 127.0.0.1, port: ${port}, publicUrl: "http://127.0.0.1:${publicPort}${path}" }`,
    });

    it('and is content only where the daemon of this installation answers', async () => {
      const installation: Place = {};
      const ours = await answering(200, installation);
      const line = await testbed({ level: 'command', service: {}, ...listenerAt(ours, ours) });
      installation.folder = line.folder;
      await line.run('sync', ...account);
      daemonAt(line);
      const { of } = await diagnose(line);
      expect(of('public address')).toMatchObject({
        result: 'ok',
        message: `http://127.0.0.1:${ours} leads to the daemon of this installation.`,
      });
      expect(of('ports')).toBeUndefined();
      expect(of('callbacks')).toMatchObject({
        result: 'warning',
        message: 'No callback of this installation is registered.',
      });
    });

    it('and finds that something else answers there: another daemon, or a program where no daemon runs', async () => {
      const installation: Place = {};
      const [ours, stranger] = [await answering(200, installation), await answering(200)];
      const line = await testbed({ level: 'command', service: {}, ...listenerAt(ours, stranger) });
      installation.folder = line.folder;
      const alone = await diagnose(line);
      expect([alone.status, alone.of('public address')]).toMatchObject([
        69,
        {
          result: 'problem',
          message: `http://127.0.0.1:${stranger} answers, but no daemon of this installation runs.`,
        },
      ]);
      expect(alone.of('ports')).toMatchObject({
        result: 'problem',
        remedy: expect.stringContaining('Another program uses this port: stop it') as string,
      });
      daemonAt(line);
      expect((await diagnose(line)).of('public address')).toMatchObject({
        result: 'problem',
        message: `http://127.0.0.1:${stranger} is answered by something other than the daemon of this installation.`,
        remedy: expect.stringContaining('where the proxy forwards it') as string,
      });
    });

    it('K33, K34 and tells of an event that could not be registered, and of deliveries that name our callback', async () => {
      const port = await answering();
      const line = await testbed({
        level: 'command',
        service: {},
        ...listenerAt(port, port),
      });
      await line.fill({
        accounts: [{ account_id: '6BApk', added_at: '2026-11-20 11:00:00.000' }],
        callbacks: [
          {
            account_id: '6BApk',
            callbackid: 7,
            event: 'bill_vendor',
            uri: `http://127.0.0.1:${port}/webhooks/6BApk/`,
            verified: 1,
            checked_at: '2026-11-20 11:59:00.000',
          },
        ],
        _registration_refusals: [
          {
            account_id: '6BApk',
            event: 'invoice',
            refused_at: '2026-11-20 11:00:00.000',
            code: 'access_denied',
            message: 'The token lacks user:invoices:read.',
          },
        ],
        deliveries: [
          {
            account_id: '6BApk',
            received_at: '2026-11-20 11:58:00.000',
            name: 'bill_vendor.update',
            object_id: 7,
            outcome: 'unchanged',
            settled_at: '2026-11-20 11:59:00.000',
          },
        ],
        _sweep_requests: [
          {
            account_id: '6BApk',
            generation: 3,
            last_ms: 0,
            callback_ids: 3,
            callback_id_at: '2026-11-20 11:58:00.000',
          },
        ],
      });
      const { of } = await diagnose(line);
      expect(of('callbacks')).toMatchObject({
        result: 'warning',
        message: 'invoice could not be registered: The token lacks user:invoices:read.',
        remedy: expect.stringContaining('listener.events') as string,
      });
      expect(of('deliveries')).toMatchObject({
        result: 'warning',
        message: expect.stringContaining('The object_id of 3 deliveries was the id of a callback of ours') as string,
      });
      const { stdout } = await line.run('status', '--account', '6BApk');
      expect(stdout).toContain('invoice could not be registered, since');
      expect(stdout).toContain('The token lacks user:invoices:read.');
      expect(stdout).toContain('the object_id of 3 was the id of a callback of ours');
    });

    it('and says that the daemon does not run', async () => {
      const { of } = await diagnose(await testbed({ level: 'command', service: {}, ...listenerAt(0, 1) }));
      expect(of('public address')).toMatchObject({
        result: 'warning',
        remedy: expect.stringContaining('serve') as string,
      });
    });

    it('and finds one that leads nowhere', async () => {
      for (const elsewhere of [1, await answering(502)]) {
        const installation: Place = {};
        const line = await testbed({
          level: 'command',
          service: {},
          ...listenerAt(await answering(200, installation), elsewhere),
        });
        installation.folder = line.folder;
        await line.run('sync', ...account);
        daemonAt(line);
        const { status, of } = await diagnose(line);
        expect(of('public address')).toMatchObject({ result: 'problem' });
        expect(status).toBe(69);
      }
    });
  });

  describe('names the remedy for the cause', () => {
    const failing =
      (code: string): typeof fetch =>
      () =>
        Promise.reject(Object.assign(new Error(code), { code }));
    const service = { baseUrl: 'https://service.example', token: 't' };

    it.each([
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
      ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
      ['ENOTFOUND', 'Check the spelling of the name'],
      ['EAI_AGAIN', 'Check the name server'],
      ['CERT_HAS_EXPIRED', 'Renew the certificate of the server'],
      ['CERT_NOT_YET_VALID', 'Set the clock of this machine'],
      ['ERR_TLS_CERT_ALTNAME_INVALID', 'Use the host name of the certificate'],
    ])('of a connection that fails with %s', async (code, remedy) => {
      const line = await testbed({ level: 'command', service, fetch: failing(code), settings: freePorts });
      const { status, of } = await diagnose(line);
      expect([status, of('access')?.remedy]).toEqual([69, expect.stringContaining(remedy)]);
    });

    it.each([
      ['a wrong base path', 404, '<html>no such page</html>', 'Check the path in service.baseUrl'],
      ['a page of a proxy', 200, '<html>welcome</html>', 'Check the path in service.baseUrl'],
      ['a token that is not known', 401, '{}', 'Set a new token as service.auth.accessToken'],
    ])('of %s', async (_, status, body, remedy) => {
      const answer: typeof fetch = () => Promise.resolve(new Response(body, { status }));
      const line = await testbed({ level: 'command', service, fetch: answer, settings: freePorts });
      expect((await diagnose(line)).of('access')?.remedy).toContain(remedy);
    });

    it('of a port that cannot be bound, and of an address that is another machine’s', async () => {
      const taken = await answering();
      const at = async (listener: string) =>
        (
          await diagnose(
            await testbed({ level: 'command', service, fetch: failing('ECONNREFUSED'), settings: listener }),
          )
        ).of('ports');
      expect((await at(`listener: { host: 127.0.0.1, port: ${taken} }`))?.remedy).toContain(
        'choose another listener.port',
      );
      expect((await at('listener: { host: 192.0.2.1, port: 0 }'))?.remedy).toContain(
        'listener.host is not an address of this machine',
      );
    });

    it('of a field that the mirror holds although it is excluded, and of one that is not known', async () => {
      const sandbox = await testbed({ level: 'sandbox', vendors: 3 });
      const line = await testbed({ level: 'command', service: sandbox, settings: freePorts });
      await line.run('sync', ...account);
      const exclude = (names: string): void =>
        writeFileSync(
          line.settings,
          `${readFileSync(line.settings, 'utf8').replace(/^vendors: .*$/m, '')}\nvendors: { exclude: [${names}] }\n`,
        );
      exclude('phone');
      expect((await diagnose(line)).of('privacy')?.remedy).toContain('`vendor-mirror forget --field phone`');
      exclude('phon');
      expect((await diagnose(line)).of('privacy')?.remedy).toContain('Check the spelling');
    });
  });
});
