/** `doctor` on the PostgreSQL that keeps the mirror and its secrets. */
import { inWords } from '../domain/duration.ts';
import { asMirrorError, catalogue } from '../domain/errors.ts';
import { counted, sizeInWords } from '../domain/size.ts';
import type { PostgresStore, Settings } from '../settings/parse.ts';
import { fine, problem, warning, type Checkup } from './doctor-checkup.ts';
import { openMirror } from './open-mirror.ts';
import type { ProcessContext } from './process/process-context.ts';
import type { SchemaRights, ServerFacts } from '../store/postgres/server-facts.ts';

/** What the clocks of two machines may differ by, in milliseconds. */
const clockTolerance = 10_000;
/** Fewer free connections than a daemon and a few commands beside it use. */
const fewConnections = 5;
/** What a transaction may need, in milliseconds: what would end it sooner is reported. */
const longestTransaction = 60_000;

/** The server first, because nothing else can be checked without it. */
export async function* postgresCheckups(
  context: ProcessContext,
  settings: Settings,
  postgres: PostgresStore,
): AsyncGenerator<Checkup> {
  const { lookAtServer } = await import('../store/postgres/server-facts.ts');
  const { schema, secretsSchema } = postgres;
  let facts: ServerFacts;
  try {
    facts = await lookAtServer(postgres, [schema, secretsSchema], context.clock, context.interrupted);
  } catch (error) {
    yield problem('database', asMirrorError(error));
    return;
  }
  const unusable = await refusal(facts);
  if (unusable) {
    yield unusable;
    return;
  }
  yield await database(context, settings, facts);
  yield* serverCheckups(facts);
  yield await secrets(context, settings, postgres);
}

/** Why no mirror can be made there; undefined where one can. */
async function refusal({ major, version, encoding }: ServerFacts): Promise<Checkup | undefined> {
  const { oldestServer } = await import('../store/postgres/migrate.ts');
  const { asUtf8 } = await import('../store/postgres/session.ts');
  const { exit } = catalogue.postgres_tables;
  if (major < oldestServer)
    return problem('database', {
      message: `The server is PostgreSQL ${version}.`,
      hint: `Upgrade it to PostgreSQL ${oldestServer} or newer.`,
      exit,
    });
  if (encoding === 'UTF8') return undefined;
  return problem('database', {
    message: `The encoding of the database is ${encoding}, which cannot hold all names.`,
    hint: asUtf8,
    exit,
  });
}

async function database(context: ProcessContext, settings: Settings, facts: ServerFacts): Promise<Checkup> {
  const check = 'database';
  try {
    const mirror = await openMirror(context, settings);
    if (!mirror)
      return warning(
        check,
        `${settings.database} does not exist: nothing is mirrored yet. The server is PostgreSQL ${facts.version}.`,
        'Run `vendor-mirror sync`.',
      );
    try {
      const { databaseBytes } = await mirror.place.sizes();
      return fine(
        check,
        `${settings.database} is there, ${sizeInWords(databaseBytes)}, on PostgreSQL ${facts.version}.`,
      );
    } finally {
      await mirror.close();
    }
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}

/** What the server says of itself. */
export function* serverCheckups(facts: ServerFacts): Generator<Checkup> {
  if (facts.isStandby)
    yield problem('server', {
      ...catalogue.postgres_refused,
      message: 'The server is a standby, which takes no writes.',
      hint: 'Name the primary server in `database`.',
    });
  yield durability(facts);
  yield failover(facts);
  if (facts.isPooled)
    yield fine(
      'pooler',
      'Connections go through a pooler: no statement is prepared there for longer than its transaction.',
    );
  for (const rights of facts.rights) {
    yield rightsCheckup(rights);
    yield* hidingTables(rights);
    yield* missingTables(rights);
  }
  yield* timeouts(facts);
  yield clock(facts);
  yield longTransactions(facts);
  yield connections(facts);
}

function durability({ fsync, fullPageWrites }: ServerFacts): Checkup {
  const check = 'durability';
  const off = [...(fsync ? [] : ['fsync']), ...(fullPageWrites ? [] : ['full_page_writes'])];
  if (off.length === 0) return fine(check, 'What the server confirms is on its disk.');
  return warning(
    check,
    `The server runs with ${off.map((name) => `${name} = off`).join(' and ')}: when its machine or power fails, the whole database may be damaged, and what was confirmed lost.`,
    `Set ${off.map((name) => `${name} = on`).join(' and ')} in postgresql.conf and reload the server.`,
  );
}

/** What is lost when another server takes the place of this one. */
function failover({ synchronousCommit, synchronousStandbys }: ServerFacts): Checkup {
  const check = 'failover';
  if (synchronousStandbys === '')
    return fine(
      check,
      'No synchronous standby is named: if another server takes the place of this one, the deliveries, edits and tokens of the last moments are lost, and read from the service again as far as it still shows them.',
    );
  // Where it is off, writes that others are told of raise it.
  if (synchronousCommit === 'local')
    return warning(
      check,
      `Synchronous standbys are named (${synchronousStandbys}), but commits of this user do not wait for them (synchronous_commit = local): if one takes over, the last moments are lost.`,
      'Set synchronous_commit = on for the server, or for this role.',
    );
  if (synchronousCommit === 'remote_write')
    return fine(
      check,
      `Commits wait until a standby has received them (${synchronousStandbys}): if one takes over, nothing is lost unless its machine fails at the same time.`,
    );
  return fine(check, `Commits wait for a standby (${synchronousStandbys}): if one takes over, nothing is lost.`);
}

function rightsCheckup({ schema, isThere, mayMake, refused }: SchemaRights): Checkup {
  const check = 'rights';
  const { exit } = catalogue.postgres_refused;
  if (!mayMake && !isThere)
    return problem(check, {
      message: `The schema ${schema} does not exist, and this user may not make it.`,
      hint: `Run as an administrator: CREATE SCHEMA ${schema} AUTHORIZATION the_user;`,
      exit,
    });
  if (!mayMake)
    return problem(check, {
      message: `This user may not use the schema ${schema}, or make tables in it.`,
      hint: `Run as an administrator: GRANT USAGE, CREATE ON SCHEMA ${schema} TO the_user;`,
      exit,
    });
  const [first, ...others] = refused;
  if (first === undefined)
    return fine(check, isThere ? `This user has all rights on ${schema}.` : `This user may make the schema ${schema}.`);
  const all = others.length === 0 ? first : `${first} and ${counted(others.length, 'other table')}`;
  return problem(check, {
    message: `This user does not own ${all} of the schema ${schema}, or may not read and write there.`,
    hint: 'Make it the owner of the tables, which updates of this program alter: REASSIGN OWNED BY … TO …;',
    exit,
  });
}

function* hidingTables({ schema, hiding: [first, ...others] }: SchemaRights): Generator<Checkup> {
  if (first === undefined) return;
  const all = others.length === 0 ? first : `${first} and ${counted(others.length, 'other table')}`;
  yield problem('row security', {
    ...catalogue.postgres_refused,
    message: `Row-level security holds for this user in ${all} of the schema ${schema}; rows that it hides would count as gone, so nothing is read or written there.`,
    hint: 'Let this user own the tables, and run on each: ALTER TABLE … NO FORCE ROW LEVEL SECURITY; policies for other users may stay.',
  });
}

function* missingTables({ schema, missing: [first, ...others] }: SchemaRights): Generator<Checkup> {
  if (first === undefined) return;
  const all =
    others.length === 0
      ? `${first} is`
      : `${first} and ${counted(others.length, 'other table or view', 'other tables and views')} are`;
  yield problem('tables', {
    ...catalogue.postgres_tables,
    message: `${all} missing in the schema ${schema}: somebody dropped what belongs to the mirror.`,
    hint: 'Restore the database from a backup, or drop the schema: then it is filled anew.',
  });
}

/** Only what this program does not set for each transaction itself. */
function* timeouts({ isReadOnly, transactionTimeout }: ServerFacts): Generator<Checkup> {
  const check = 'settings of the user';
  if (isReadOnly)
    yield problem(check, {
      ...catalogue.postgres_refused,
      message: 'Transactions of this user cannot write (default_transaction_read_only = on).',
      hint: 'Reset it for the role and the database: ALTER ROLE … RESET default_transaction_read_only;',
    });
  if (transactionTimeout > 0 && transactionTimeout < longestTransaction)
    yield warning(
      check,
      `The server ends transactions of this user after ${inWords(transactionTimeout)} (transaction_timeout); large ones may take longer.`,
      'Set it to a minute or more for this role: ALTER ROLE … SET transaction_timeout = 0;',
    );
}

function clock({ clockAheadBy }: ServerFacts): Checkup {
  const check = 'clock of the server';
  const by = Math.abs(clockAheadBy);
  if (by <= clockTolerance) return fine(check, 'It agrees with the clock of this machine.');
  return warning(
    check,
    `It is ${inWords(by)} ${clockAheadBy > 0 ? 'ahead of' : 'behind'} the clock of this machine.`,
    'Synchronize both clocks, with NTP.',
  );
}

function longTransactions({ longTransactions: { count, oldest } }: ServerFacts): Checkup {
  const check = 'long transactions';
  if (count === 0) return fine(check, 'No transaction of others that can be seen is open for long.');
  return warning(
    check,
    `${counted(count, 'transaction')} of others in this database ${count === 1 ? 'has' : 'have'} been open for up to ${inWords(oldest)}: until they end, no space of deleted and updated rows is used again.`,
    'Find them in pg_stat_activity, and end them; run long reports on a replica.',
  );
}

function connections({ freeConnections }: ServerFacts): Checkup {
  const check = 'connections';
  const left = Math.max(0, freeConnections);
  if (left >= fewConnections) return fine(check, `${counted(left, 'more connection')} can be opened.`);
  return warning(
    check,
    `Only ${counted(left, 'more connection')} can be opened: a daemon uses two, and each command as many.`,
    'Raise max_connections or the limit of the role, end programs that keep connections open, or use a pooler.',
  );
}

async function secrets(context: ProcessContext, settings: Settings, postgres: PostgresStore): Promise<Checkup> {
  const check = 'secrets';
  const { openEverySecret } = await import('../store/secrets/sealed-columns.ts');
  const { secretsSchema, secretsKeyFile } = postgres;
  try {
    const count = await openEverySecret({ ...postgres, schema: secretsSchema }, secretsKeyFile, context);
    if (count === undefined)
      return fine(
        check,
        `${settings.secrets} does not exist yet; it is created when it is needed. The key can be used.`,
      );
    return fine(check, `The key opens all that is sealed in ${settings.secrets}: ${counted(count, 'value')}.`);
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}
