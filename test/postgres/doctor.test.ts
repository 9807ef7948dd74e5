/** What `doctor` says of the PostgreSQL that keeps a mirror. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Checkup } from '../../src/cmd/doctor-checkup.ts';
import { storeCheckups } from '../../src/cmd/doctor-mirror.ts';
import { serverCheckups } from '../../src/cmd/doctor-postgres.ts';
import type { ProcessContext } from '../../src/cmd/process/process-context.ts';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { readSecretFile } from '../../src/settings/file.ts';
import { openPostgresMirror } from '../../src/store/mirror.ts';
import type { ServerFacts } from '../../src/store/postgres/server-facts.ts';
import { openPostgresSecrets, secretsSealing } from '../../src/store/secrets/secrets.ts';
import { migrations, packageRoot } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { freePort } from '../support/network/free-port.ts';
import { newKeyFile } from '../support/postgres-schema.ts';
import { askedForPassword, isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, asOwner, postgresProxy, postgresServer } from '../support/postgres.ts';
import { settingsIn } from '../support/settings.ts';

const server = postgresServer();

const context = {
  packageRoot,
  clock: systemClock,
  random: systemRandom,
  interrupted: new AbortController().signal,
} as unknown as ProcessContext;

const like = (said: RegExp | string): unknown =>
  typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);

type Told = Readonly<Record<string, Pick<Checkup, 'result' | 'message' | 'remedy'>>>;

/** The checks by name, in their order; of one name, the last. */
async function told(database: string, over: Readonly<Record<string, unknown>> = {}): Promise<Told> {
  const settings = settingsIn(
    '.',
    { database, secrets: undefined, secretsKeyFile: newKeyFile(), ...over },
    readSecretFile,
  );
  const found: Record<string, Checkup> = {};
  for await (const checkup of storeCheckups(context, settings)) found[checkup.check] = checkup;
  return found;
}

async function makeMirror(address: string, key?: string): Promise<void> {
  const given = { database: address, secrets: undefined, ...(key !== undefined && { secretsKeyFile: key }) };
  const store = settingsIn('.', given, readSecretFile).postgres!;
  const shared = { store, migrations, clock: systemClock, random: systemRandom };
  const mirror = await openPostgresMirror(shared);
  await mirror.close();
  if (key === undefined) return;
  const secrets = await openPostgresSecrets({ ...shared, sealing: secretsSealing(store, systemRandom) });
  await secrets.verifiers.rotate('6BApk');
  await secrets.close();
}

const good: ServerFacts = {
  ...{ version: '17.2', major: 17, encoding: 'UTF8', isStandby: false, fsync: true, fullPageWrites: true },
  ...{ synchronousCommit: 'on', synchronousStandbys: '', isPooled: false, isReadOnly: false, transactionTimeout: 0 },
  ...{ clockAheadBy: 3, longTransactions: { count: 0, oldest: 0 }, freeConnections: 80 },
  rights: [{ schema: 'books', isThere: true, mayMake: true, refused: [], hiding: [], missing: [] }],
};

const saidOf = (facts: Partial<ServerFacts>): string[] =>
  [...serverCheckups({ ...good, ...facts })]
    .filter(({ result }) => result !== 'ok')
    .map(({ check, result, message, remedy }) => `${result} ${check}: ${message} ${remedy}`);

describe('what a server says of itself', () => {
  it('is no problem where it is as it should be', () => {
    expect(saidOf({})).toEqual([]);
  });

  it.each([
    [{ fsync: false }, /^warning durability: .* fsync = off: .* Set fsync = on/],
    [{ fullPageWrites: false }, /full_page_writes = off/],
    [{ isStandby: true }, /^problem server: .* standby/],
    [{ isReadOnly: true }, /^problem settings of the user: .* default_transaction_read_only/],
    [{ transactionTimeout: 5_000 }, /^warning settings of the user: .* after 5 s/],
    [{ synchronousStandbys: 'two', synchronousCommit: 'local' }, /^warning failover: .* the last moments are lost/],
    [{ clockAheadBy: -61_000 }, /^warning clock of the server: It is .* behind/],
    [{ longTransactions: { count: 2, oldest: 3_600_000 } }, /^warning long transactions: 2 transactions .* 1 h/],
    [{ freeConnections: 2 }, /^warning connections: Only 2 more/],
    [
      { rights: [{ schema: 'books', isThere: false, mayMake: false, refused: [], hiding: [], missing: [] }] },
      /^problem rights: .* CREATE SCHEMA books/,
    ],
    [
      { rights: [{ schema: 'books', isThere: true, mayMake: false, refused: [], hiding: [], missing: [] }] },
      /^problem rights: .* GRANT USAGE/,
    ],
    [
      {
        rights: [
          { schema: 'books', isThere: true, mayMake: true, refused: ['runs', 'vendors'], hiding: [], missing: [] },
        ],
      },
      /^problem rights: .* runs and 1 other table/,
    ],
    [
      {
        rights: [{ schema: 'books', isThere: true, mayMake: true, refused: [], hiding: [], missing: ['owed', 'runs'] }],
      },
      /^problem tables: owed and 1 other table or view are missing in the schema books/,
    ],
    [
      {
        rights: [
          { schema: 'books', isThere: true, mayMake: true, refused: [], hiding: ['runs', 'vendors'], missing: [] },
        ],
      },
      /^problem row security: .* runs and 1 other table of the schema books; .* NO FORCE ROW LEVEL SECURITY/,
    ],
  ] as const)('is reported where it is not: %j', (facts, said) => {
    expect(saidOf(facts)).toEqual([like(said)]);
  });

  it.each([
    ['', 'on', /No synchronous standby is named: .* lost/],
    ['two', 'on', /^Commits wait for a standby \(two\): .* nothing is lost/],
    ['two', 'remote_write', /unless its machine fails at the same time/],
  ])('tells what a failover would lose, with the standbys "%s" and synchronous_commit %s', (standbys, level, said) => {
    const found = [...serverCheckups({ ...good, synchronousStandbys: standbys, synchronousCommit: level })];
    expect(found.find(({ check }) => check === 'failover')).toMatchObject({
      result: 'ok',
      message: like(said),
    });
  });
});

describe.skipIf(isMissing(missingPostgres))('doctor on a server', () => {
  it('without a schema yet says that nothing is mirrored, and makes nothing', async () => {
    const address = await server.database();
    const found = await told(address);
    expect(found['database']).toMatchObject({ result: 'warning', remedy: 'Run `vendor-mirror sync`.' });
    expect(found['database']?.message).toMatch(/, schema vendor_mirror does not exist: nothing is mirrored yet/);
    expect(found['rights']).toMatchObject({ result: 'ok', message: like('may make the schema') });
    expect(found['secrets']).toMatchObject({ result: 'ok', message: like('does not exist yet') });
    const schemas = await askPostgres(address, `SELECT 1 FROM pg_namespace WHERE nspname LIKE 'vendor_mirror%'`);
    expect(schemas).toEqual([]);
  });

  it('with a mirror and secrets finds them in order, and says that the server does not wait for its disk', async () => {
    const address = await server.database();
    const key = newKeyFile();
    await makeMirror(address, key);
    const found = await told(address, { secretsKeyFile: key });
    expect(found['database']).toMatchObject({ result: 'ok', message: like(/on PostgreSQL \d+/) });
    expect(found['secrets']).toMatchObject({
      result: 'ok',
      message: like(/opens all that is sealed .*: 2 values\.$/),
    });
    expect(found['rights']).toMatchObject({ result: 'ok' });
    expect(found['clock of the server']).toMatchObject({ result: 'ok' });
    expect(found['privacy']).toMatchObject({ result: 'ok', message: 'No field is excluded.' });
    const isOff = (await askPostgres<{ fsync: string }>(address, 'SHOW fsync'))[0]?.fsync === 'off';
    expect(found['durability']?.result).toBe(isOff ? 'warning' : 'ok');
    for (const check of ['tables', 'disk', 'file system', 'user of the service'])
      expect(found).not.toHaveProperty(check);
    await askPostgres(address, 'DROP TABLE vendor_mirror._refusals');
    expect((await told(address, { secretsKeyFile: key }))['tables']).toMatchObject({
      result: 'problem',
      message: like('_refusals is missing in the schema vendor_mirror'),
    });
  });

  it('says that the key is another one than what is stored was sealed with, or is not there', async () => {
    const address = await server.database();
    await makeMirror(address, newKeyFile());
    expect((await told(address))['secrets']).toMatchObject({
      result: 'problem',
      message: like(/sealed with the key [0-9a-f]{8}/),
    });
    expect((await told(address, { secretsKeyFile: '/nowhere/key' }))['secrets']).toMatchObject({ result: 'problem' });
  });

  it('says that few more connections can be opened', async () => {
    const address = await server.database();
    const name = new URL(address).pathname.slice(1);
    await askPostgres(address, `ALTER DATABASE ${name} CONNECTION LIMIT 4`);
    expect((await told(address))['connections']).toMatchObject({ result: 'warning' });
  });

  it('whose database has another encoding says how to make one', async () => {
    const found = await told(await server.database('LATIN1'));
    expect(found['database']).toMatchObject({ result: 'problem', remedy: like(/ENCODING 'UTF8'/) });
    expect(found).not.toHaveProperty('durability');
  });

  it('says what a user may not do', async () => {
    const superuser = await server.database();
    await makeMirror(superuser);
    const role = `limited_${process.pid}`;
    await askPostgres(superuser, `CREATE ROLE ${role} LOGIN`);
    onTestFinished(async () => {
      await askPostgres(superuser, `DROP ROLE ${role}`);
    });
    const address = new URL(superuser);
    address.username = role;
    const found = await told(String(address));
    expect(found['rights']).toMatchObject({ result: 'problem', remedy: like('CREATE SCHEMA') });
    expect(found['database']).toMatchObject({ result: 'problem' });
  });

  it('names tables in which row-level security holds for the user, and not those in which it holds for others', async () => {
    const address = await asOwner(await server.database(), 'doctor');
    const key = newKeyFile();
    await makeMirror(address, key);
    await askPostgres(address, 'ALTER TABLE vendor_mirror.vendors ENABLE ROW LEVEL SECURITY');
    expect(await told(address, { secretsKeyFile: key })).not.toHaveProperty('row security');
    await askPostgres(address, 'ALTER TABLE vendor_mirror.vendors FORCE ROW LEVEL SECURITY');
    expect((await told(address, { secretsKeyFile: key }))['row security']).toMatchObject({
      result: 'problem',
      message: like('in vendors of the schema vendor_mirror'),
    });
  });

  it('that is down, or that no password opens, reports the database alone', async () => {
    const address = await server.database();
    const proxy = await postgresProxy(address);
    proxy.mode = 'down';
    const down = await told(proxy.address);
    expect(down['database']).toMatchObject({
      result: 'problem',
      message: like('cannot be reached'),
    });
    expect(down).not.toHaveProperty('durability');
    const nobody = new URL(address);
    nobody.port = String(await freePort());
    expect((await told(String(nobody)))['database']).toMatchObject({ result: 'problem' });
    if (!isOwnServer) return;
    await askPostgres(
      address,
      `DO $$ BEGIN CREATE ROLE ${askedForPassword} LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`,
    );
    await askPostgres(address, `ALTER ROLE ${askedForPassword} PASSWORD 'right'`);
    const other = new URL(address);
    other.username = askedForPassword;
    const refused = await told(String(other), { databasePassword: 'wrong' });
    expect(refused['database']).toMatchObject({
      result: 'problem',
      message: like('SQLSTATE 28P01'),
    });
    expect(JSON.stringify(refused)).not.toContain('wrong');
  });
});
