/** `doctor` on the files, their disk, and what the mirror says of each account. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { age } from '../domain/clock.ts';
import { asMirrorError, catalogue, exitStatus, MirrorError, withFullStop } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { counted, sizeInWords } from '../domain/size.ts';
import { vendorFields } from '../domain/vendor.ts';
import {
  judge,
  type AccountHealth,
  type Health,
  type Problem,
  type ProblemCode,
  type PublicationStatus,
} from '../health/judge.ts';
import { refusalRemedy, refusalWords, unknownPaths } from '../health/callbacks.ts';
import { publishedFiles, publishedSchemas, type PostgresPublication, type Settings } from '../settings/parse.ts';
import { replaceableByOthers } from '../settings/permissions.ts';
import { refuseOtherFiles } from '../store/files/identity.ts';
import { withoutFolder } from '../store/files/own-files.ts';
import { storedFields } from '../store/forget.ts';
import type { Reader } from '../store/reader.ts';
import { lookAtSink, mirrorToCompare } from '../store/sink/sink.ts';
import { sinkMigrations } from '../store/sink/tables.ts';
import { keyText } from '../store/sql/statement.ts';
import {
  doubtfulFileSystem,
  freeBytes,
  localDisk,
  noSpaceForDelivery,
  noSpaceForSweep,
  readOnly,
  secondName,
} from '../store/sqlite/file-systems.ts';
import { fine, problem, warning, type Checkup } from './doctor-checkup.ts';
import { mirrorFacts } from './mirror-facts.ts';
import { openMirror } from './open-mirror.ts';
import { shellWord } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';

/** `doctor` on the mirror and the secrets, and on the disk or the server that they are on. */
export async function* storeCheckups(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  const { postgres } = settings;
  if (postgres) {
    const { postgresCheckups } = await import('./doctor-postgres.ts');
    yield* postgresCheckups(context, settings, postgres);
  } else {
    yield await database(context, settings);
    yield secrets(settings);
    yield disk(settings);
    yield* fileSystems(settings);
    yield* serviceUser(settings);
  }
  yield await privacy(context, settings);
  yield* installationCheckups(context, settings);
  yield* postgresServers(context, settings);
  yield* openFolders(settings);
}

async function database(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'database';
  const path = settings.database;
  try {
    const mirror = await openMirror(context, settings);
    if (!mirror) {
      const state = existsSync(path) ? 'is empty' : 'does not exist';
      return warning(check, `${path} ${state}: nothing is mirrored yet.`, 'Run `vendor-mirror sync`.');
    }
    try {
      const unwritable = readOnly(path) ?? secondName(path);
      if (unwritable) return problem(check, unwritable);
      const faults = await mirror.place.faults();
      const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (faults.length === 0 && journal > limits.journal)
        return warning(
          check,
          `${path} is in order, but its journal has grown to ${sizeInWords(journal)}.`,
          'Another program keeps a query open: end it, and run long reports on a copy (`publish`).',
        );
      if (faults.length === 0)
        return fine(check, `${path} is in order, ${sizeInWords((await mirror.place.sizes()).databaseBytes)}.`);
      return problem(
        check,
        new MirrorError('database_corrupt', withFullStop(`${path} is damaged: ${faults.join('; ')}`)),
      );
    } finally {
      await mirror.close();
    }
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}

function secrets(settings: Settings): Checkup {
  const check = 'secrets';
  const path = settings.secrets;
  try {
    refuseOtherFiles(settings);
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
  const twice = secondName(path);
  if (twice) return problem(check, twice);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return fine(check, `${path} does not exist yet; it is created when it is needed.`);
  if ((mode & 0o077) === 0) return fine(check, `${path} can be read only by its owner.`);
  const { exit } = catalogue.database_unusable;
  return problem(check, { message: `${path} can be read by others.`, hint: `Run: chmod 600 ${path}`, exit });
}

/** What the mirror says of the installation as a whole: copies, receivers, accounts that were left, the listener. */
async function* installationCheckups(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  let mirror: Reader | undefined;
  try {
    mirror = await openMirror(context, settings);
    const health = judge(await mirrorFacts(context, settings, mirror, undefined), context.clock.now());
    const found = ofInstallation(health);
    yield* found;
    yield* copies(health.facts.publications, settings, found);
    if (settings.notify.length > 0 && !found.some(({ check }) => check === checkOf.receiver_failing))
      yield fine(
        checkOf.receiver_failing,
        'Every receiver of the settings takes what is sent, or has not failed for long.',
      );
  } catch {
    if (settings.publish.length > 0)
      yield fine(checkOf.publication_failing, 'This cannot be checked while the database cannot be opened.');
  } finally {
    await mirror?.close();
  }
}

/** Each problem of no account that is served. */
export function ofInstallation({ accounts, installation }: Health): Checkup[] {
  const left = accounts
    .filter(({ facts }) => facts.isLeft)
    .flatMap(({ facts, problems }) => problems.map((one) => ({ ...one, message: `${facts.account}: ${one.message}` })));
  return judgedCheckups([...left, ...installation], askedAnew);
}

/** The copies for readers that are in order; nothing where the settings name none. */
function* copies(
  publications: readonly PublicationStatus[],
  { publish }: Settings,
  found: readonly Checkup[],
): Generator<Checkup> {
  const check = checkOf.publication_failing;
  if (publications.length === 0 || found.some((one) => one.check === check)) return;
  const missing = publishedFiles(publish).flatMap(({ path }) => withoutFolder(path) ?? []);
  for (const { message, hint } of missing) yield warning(check, message, hint);
  const fresh = publications.filter(({ written_at }) => written_at !== null).length;
  if (missing.length === 0) yield fine(check, `${fresh} of ${publications.length} were written; a daemon keeps them.`);
}

/** Whether each PostgreSQL that rows are published to can be used now, and holds those of the mirror; nothing is written there. */
async function* postgresServers(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  const schemas = publishedSchemas(settings.publish);
  if (schemas.length === 0) return;
  const migrations = sinkMigrations(join(context.packageRoot, 'migrations'));
  let mirror: Reader | undefined;
  try {
    // One that cannot be read is reported by everything else.
    mirror = await openMirror(context, settings);
  } catch {
    mirror = undefined;
  }
  try {
    for (const one of schemas) yield await postgresServer(context, one, mirror, migrations);
  } finally {
    await mirror?.close();
  }
}

async function postgresServer(
  context: ProcessContext,
  one: PostgresPublication,
  mirror: Reader | undefined,
  migrations: ReturnType<typeof sinkMigrations>,
): Promise<Checkup> {
  const check = 'rows in PostgreSQL';
  const { path } = one;
  const { clock, interrupted } = context;
  try {
    const compared = mirror && (await mirrorToCompare(mirror.query, path, migrations));
    const { isMade, isCompared, found } = await lookAtSink(one, migrations, clock, compared, interrupted);
    if (!isMade) return fine(check, `${path} can be reached, and gets its tables when the daemon first writes them.`);
    if (!isCompared)
      return fine(check, `${path} can be reached, and holds the tables of this program; its rows are not whole yet.`);
    if (!found) return fine(check, `${path} can be reached, and its rows are those of the mirror.`);
    const rows = Object.entries(found.rows).map(([table, count]) => `${counted(count, 'row')} of ${table}`);
    const of = found.vendors.map(keyText);
    return warning(
      check,
      `${path} differs from the mirror in ${rows.join(', ')} (vendors ${of.join(', ')}): others altered, deleted or added them.`,
      'The daemon writes them again within the hour, or at once after its restart. Find out who else may write these tables, and take the right away.',
    );
  } catch (error) {
    const { message, hint } = asMirrorError(error);
    return warning(check, message, hint);
  }
}

/** Files that nobody can trust, because others may put something else in their place. */
function* openFolders({ database, secrets, postgres, publish, sandbox }: Settings): Generator<Checkup> {
  // Root checks for the user of the service.
  const user = process.geteuid?.() === 0 && !postgres ? statSync(nearestFolder(resolve(database))).uid : undefined;
  const files =
    sandbox === null && !postgres
      ? ([
          ['database', database],
          ['secrets', secrets],
        ] as const)
      : [];
  for (const [check, path] of files) {
    const open = replaceableByOthers(nearestFolder(resolve(path)), user);
    if (open) yield warning(check, `Others may put something else in the place of ${path}: ${open.why}.`, open.remedy);
  }
  for (const folder of new Set(publishedFiles(publish).map(({ path }) => nearestFolder(resolve(path))))) {
    const open = replaceableByOthers(folder, user);
    if (open)
      yield warning(
        'copies for readers',
        `Others may put something else in the place of copies in ${folder}: ${open.why}.`,
        'Publish into a folder that only the user of the service may write, below others of which that is true, too.',
      );
  }
}

/** What should not be in the mirror, and is. */
async function privacy(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'privacy';
  const { exclude } = settings.vendors;
  const unknown = exclude.filter((name) => !vendorFields.some((field) => field === name));
  try {
    const mirror = await openMirror(context, settings);
    const held = mirror
      ? await mirror.query((sqlite) => storedFields(sqlite, exclude)).finally(() => mirror.close())
      : [];
    if (held.length > 0)
      return warning(
        check,
        `The mirror holds ${held.join(', ')} from before it was excluded (vendors.exclude).`,
        `Stop the daemon and run \`vendor-mirror forget --field ${held.join(' ')}\`.`,
      );
  } catch {
    return fine(check, 'This cannot be checked while the database cannot be opened.');
  }
  if (unknown.length > 0)
    return warning(
      check,
      `vendors.exclude names ${unknown.join(', ')}, which vendor-mirror does not know.`,
      'Check the spelling; if the service has this field, ignore this warning.',
    );
  return fine(check, exclude.length > 0 ? `Excluded: ${exclude.join(', ')}.` : 'No field is excluded.');
}

/** What is doubtful about where the files are; refused places are reported with the files. */
function* fileSystems({ database, secrets }: Settings): Generator<Checkup> {
  for (const path of [database, secrets]) {
    const doubt = existsSync(path) ? doubtfulFileSystem(path) : undefined;
    if (doubt !== undefined) yield warning('file system', doubt, localDisk);
  }
}

/** To root, who can read everything: whether the user of the service can, whose the folder of the mirror is taken to be. */
function* serviceUser({ database, secrets, readFrom }: Settings): Generator<Checkup> {
  const check = 'user of the service';
  if (process.geteuid?.() !== 0) return;
  const folder = nearestFolder(resolve(database));
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  const written = [database, `${database}-wal`, `${database}-shm`, `${database}.lock`, secrets, `${secrets}-wal`];
  const closed = [
    ...written.filter((path) => !mayUse(path, { uid, gid }, 0o6)),
    ...readFrom.filter((path) => !mayUse(path, { uid, gid }, 0o4)),
  ];
  yield closed.length === 0
    ? fine(
        check,
        `The owner of ${folder} (uid ${uid}) can use the mirror, the secrets, the settings and the files of tokens.`,
      )
    : warning(
        check,
        `Root runs this, and the owner of ${folder} (uid ${uid}) cannot use ${closed.join(', ')}.`,
        `If the daemon runs as that user, run: chown ${uid}:${gid} ${closed.map(shellWord).join(' ')}`,
      );
}

/** Whether a user may use a file in these ways, as its owner, group and mode say; one that is not there keeps nobody out. */
function mayUse(path: string, user: { readonly uid: number; readonly gid: number }, ways: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return true;
  const place = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
  return ((stats.mode >> place) & ways) === ways;
}

function disk({ database: path }: Settings): Checkup {
  const check = 'disk';
  const free = freeBytes(nearestFolder(resolve(path)));
  const message = `${sizeInWords(free)} are free beside the database.`;
  const noSpace = noSpaceForDelivery(free) ?? noSpaceForSweep(free, path);
  if (noSpace) return problem(check, noSpace);
  return free < limits.freeSpace ? warning(check, message, catalogue.disk_full.hint) : fine(check, message);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestFolder(folder);
}

/** What `doctor` learned of the service about an account, which is not said again. */
export interface Asked {
  /** Whether its list could be read. */
  readonly isReached: boolean;
  /** Whether it is known which callbacks lead to this installation. */
  readonly areCallbacksKnown: boolean;
}

/** `doctor` on what the mirror says of an account: whether it is paused, how old it is, and what could not be read. */
export async function mirrorCheckups(
  context: ProcessContext,
  settings: Settings,
  account: string,
  asked: Asked,
): Promise<Checkup[]> {
  const health = await healthOf(context, settings, account);
  return health ? accountCheckups(context, health, asked) : [];
}

/** Each problem of the account but for what was asked anew, and what is in order. */
export function accountCheckups(
  { clock }: Pick<ProcessContext, 'clock'>,
  { facts, problems, error }: AccountHealth,
  { isReached, areCallbacksKnown }: Asked,
): Checkup[] {
  const isIncomplete = error?.code != null && catalogue[error.code].exit === exitStatus.incomplete;
  const reported: ReadonlySet<ProblemCode> = isReached ? askedAnew : isIncomplete ? unreached : failedAlike;
  const known = problems.find(({ code }) => causes.has(code));
  const cause = isReached ? known && checkOf[known.code] : checkOf.access_refused;
  const told = problems.map((one) =>
    one.remedy === null && checkOf[one.code] === checkOf.stale
      ? { ...one, remedy: cause ? `See "${cause}".` : 'Run `vendor-mirror status`.' }
      : one,
  );
  const found = judgedCheckups(told, reported);
  const strays = strayRequests({ clock }, facts);
  const inOrder: readonly (readonly [check: string, message: string])[] = [
    [checkOf.stale, `The lists were read ${age(clock, facts.freshness.listed_as_of)}.`],
    [
      checkOf.deliveries_refused,
      `${strays ? `${strays.message} No other` : 'None'} was refused within a day and after the last that was accepted.`,
    ],
    [checkOf.queue_stuck, 'No changed vendor was given up.'],
    [checkOf.values_unreadable, 'Every value that the service sent could be read.'],
  ];
  const isToldOtherwise = areCallbacksKnown || found.some(({ check }) => check === checkOf.deliveries_refused);
  const all = strays && !isToldOtherwise ? [...found, strays] : found;
  return [
    ...inOrder.flatMap(([check, message]) => {
      const own = all.filter((one) => one.check === check);
      return own.length > 0 ? own : fine(check, message);
    }),
    ...all.filter(({ check }) => inOrder.every(([other]) => other !== check)),
  ];
}

export const checkOf = {
  listener_closed: 'ports',
  cannot_store: 'disk',
  other_service: 'opening',
  not_served: 'left accounts',
  paused: 'paused',
  access_refused: 'access',
  service_failing: 'access',
  first_pull: 'freshness',
  never_mirrored: 'freshness',
  clock_wrong: 'freshness',
  clock_set_back: 'freshness',
  stale: 'freshness',
  in_doubt: 'freshness',
  mirror_differs: 'comparison',
  last_run: 'last run',
  absences_waiting: 'absences',
  token_sees_less: 'absences',
  absences_unproven: 'absences',
  callback_unverified: 'callbacks',
  deliveries_refused: 'refused deliveries',
  address_known: 'refused deliveries',
  callbacks_unknown: 'unknown callbacks',
  deliveries_silent: 'deliveries',
  vendors_undecided: 'undecided',
  values_unreadable: 'values',
  fields_unsent: 'unsent fields',
  vendors_parked: 'queue',
  queue_stuck: 'queue',
  no_daemon: 'public address',
  nobody_works: 'daemons',
  nobody_listens: 'daemons',
  disk_low: 'disk',
  listener_moved: 'listener',
  connection_refused: 'access',
  receiver_gone: 'outgoing webhooks',
  receiver_failing: 'outgoing webhooks',
  changes_given_up: 'outgoing webhooks',
  receiver_unknown: 'outgoing webhooks',
  publication_failing: 'copies for readers',
  publication_late: 'copies for readers',
} as const satisfies Readonly<Record<ProblemCode, string>>;

/** What `doctor` examines itself, where the service answers: it says what it finds now. */
export const askedAnew = new Set<ProblemCode>([
  'callback_unverified',
  'callbacks_unknown',
  'no_daemon',
  'disk_low',
  'connection_refused',
]);

/** Why a mirror becomes old. */
const causes = new Set<ProblemCode>(['access_refused', 'service_failing', 'last_run']);

/** What the failed request of `doctor` says, where the service does not answer. */
const unreached = new Set<ProblemCode>(['access_refused', 'service_failing', 'callback_unverified']);

/** The same, where the last run failed likewise. */
const failedAlike = new Set<ProblemCode>([...unreached, 'last_run']);

/** @param reported those that are reported otherwise */
function judgedCheckups(problems: readonly Problem[], reported: ReadonlySet<ProblemCode>): Checkup[] {
  return problems.flatMap(({ code, message, remedy }) => {
    if (reported.has(code)) return [];
    return remedy === null ? fine(checkOf[code], message) : warning(checkOf[code], message, remedy);
  });
}

/**
 * What the mirror says before the service is asked: that the account is paused, and then nothing is requested about it, not even to check; and
 * whether its age is unknown because of the clock.
 */
export async function knownBefore(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<{ readonly paused: Checkup | undefined; readonly isClockWrong: boolean }> {
  const problems = (await healthOf(context, settings, account))?.problems ?? [];
  const found = problems.find(({ code }) => code === 'paused');
  const paused = found && warning('paused', found.message, `\`vendor-mirror accounts resume ${account}\` resumes it.`);
  return { paused, isClockWrong: problems.some(({ code }) => code === 'clock_wrong') };
}

async function healthOf(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<AccountHealth | undefined> {
  const mirror = await openMirror(context, settings);
  try {
    return judge(await mirrorFacts(context, settings, mirror, account), context.clock.now()).accounts.find(
      ({ facts }) => facts.account === account,
    );
  } finally {
    await mirror?.close();
  }
}

/** Requests to addresses that no callback of ours has: a callback of other secrets may cause them, where it is not known that none does. */
function strayRequests(
  { clock }: Pick<ProcessContext, 'clock'>,
  { account, refused }: AccountHealth['facts'],
): Checkup | undefined {
  const astray = unknownPaths(refused, clock.now());
  if (!astray) return undefined;
  const message = `${counted(astray.refused, 'request')} ${refusalWords(astray.outcome, null)}, the last ${age(clock, astray.last_at)}.`;
  return warning(checkOf.deliveries_refused, message, refusalRemedy(astray.outcome, account));
}
