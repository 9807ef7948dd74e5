/** `doctor` on the files, their disk, and what the mirror says of each account. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { age } from '../domain/clock.ts';
import { asMirrorError, catalogue, exitStatus, MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { vendorFields } from '../domain/vendor.ts';
import { judge, listenerProblem, publicationProblem, type AccountHealth, type ProblemCode } from '../health/judge.ts';
import { refusalRemedy, refusalWords, unknownPaths } from '../health/refusals.ts';
import { publishedFiles, publishedSchemas, type Settings } from '../settings/parse.ts';
import { replaceableByOthers } from '../settings/permissions.ts';
import { refuseOtherFiles } from '../store/files/identity.ts';
import { withoutFolder } from '../store/files/own-files.ts';
import { storedFields } from '../store/forget.ts';
import type { Reader } from '../store/reader.ts';
import { isSinkMade } from '../store/postgres/sink.ts';
import { sinkMigrations } from '../store/postgres/tables.ts';
import { doubtfulFileSystem, freeBytes, localDisk, spaceForDeliveries } from '../store/sqlite/file-systems.ts';
import { fine, problem, warning, type Checkup } from './doctor-checkup.ts';
import { mirrorFacts } from './mirror-facts.ts';
import { openMirror } from './open-mirror.ts';
import { shellWord } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { counted } from './terminal/text.ts';

/** `doctor` on the files: the mirror, the secrets, and the disk that they are on. */
export async function* fileCheckups(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  yield await database(context, settings);
  yield secrets(settings);
  yield disk(settings);
  yield* fileSystems(settings);
  yield* serviceUser(settings);
  yield await privacy(context, settings);
  yield* publications(context, settings);
  yield* postgresServers(context, settings);
  yield* openFolders(settings);
  yield* listenerPlace(context, settings);
}

async function database(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'database';
  const path = settings.database;
  try {
    const mirror = openMirror(context, settings);
    if (!mirror) {
      const state = existsSync(path) ? 'is empty' : 'does not exist';
      return warning(check, `${path} ${state}: nothing is mirrored yet.`, 'Run `vendor-mirror sync`.');
    }
    try {
      const faults = await mirror.faults();
      const journal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (faults.length === 0 && journal > limits.journal)
        return warning(
          check,
          `${path} is in order, but its journal has grown to ${megabytes(journal)}.`,
          'Another program keeps a query open: end it, and run long reports on a copy (`publish`).',
        );
      if (faults.length === 0) return fine(check, `${path} is in order, ${megabytes(mirror.sizes.databaseBytes)}.`);
      return problem(check, new MirrorError('database_corrupt', `${path} is damaged: ${faults.join('; ')}.`));
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
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return fine(check, `${path} does not exist yet; it is created when it is needed.`);
  if ((mode & 0o077) === 0) return fine(check, `${path} can be read only by its owner.`);
  const { exit } = catalogue.database_unusable;
  return problem(check, { message: `${path} can be read by others.`, hint: `Run: chmod 600 ${path}`, exit });
}

/** The copies for readers; nothing where the settings name none. */
async function* publications(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  const check = 'copies for readers';
  if (settings.publish.length === 0) return;
  let mirror: Reader | undefined;
  try {
    mirror = openMirror(context, settings);
    const { publications: found, startedAt } = await mirrorFacts(context, settings, mirror, undefined);
    const now = context.clock.now();
    const problems = found.flatMap((one) => publicationProblem(one, startedAt !== null, now) ?? []);
    for (const { message, remedy } of problems) yield warning(check, message, remedy ?? '');
    const missing =
      problems.length > 0 ? [] : publishedFiles(settings.publish).flatMap(({ path }) => withoutFolder(path) ?? []);
    for (const { message, hint } of missing) yield warning(check, message, hint);
    const fresh = found.filter(({ written_at }) => written_at !== null).length;
    if (problems.length + missing.length === 0)
      yield fine(check, `${fresh} of ${found.length} were written; a daemon keeps them.`);
  } catch {
    yield fine(check, 'This cannot be checked while the database cannot be opened.');
  } finally {
    await mirror?.close();
  }
}

/** Whether each PostgreSQL that rows are published to can be used now; nothing is written there. */
async function* postgresServers(context: ProcessContext, { publish }: Settings): AsyncGenerator<Checkup> {
  const check = 'rows in PostgreSQL';
  for (const one of publishedSchemas(publish)) {
    try {
      const isMade = await isSinkMade(one, sinkMigrations(join(context.packageRoot, 'migrations')), context.clock);
      const made = isMade ? 'holds the tables of this program' : 'gets its tables when the daemon first writes them';
      yield fine(check, `${one.path} can be reached, and ${made}.`);
    } catch (error) {
      const { message, hint } = asMirrorError(error);
      yield warning(check, message, hint);
    }
  }
}

/** Copies that readers cannot trust, because others may put something else in their place. */
function* openFolders({ database, publish }: Settings): Generator<Checkup> {
  // Root checks for the user of the service.
  const user = process.geteuid?.() === 0 ? statSync(nearestFolder(resolve(database))).uid : undefined;
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

/** Whether a proxy elsewhere may have lost the listener with an upgrade; nothing where the files say otherwise, or cannot be opened. */
async function* listenerPlace(context: ProcessContext, settings: Settings): AsyncGenerator<Checkup> {
  let mirror: Reader | undefined;
  try {
    mirror = openMirror(context, settings);
    const moved = listenerProblem(await mirrorFacts(context, settings, mirror, undefined));
    if (moved) yield warning('listener', moved.message, moved.remedy ?? '');
  } catch {
    // It was reported with the database.
  } finally {
    await mirror?.close();
  }
}

/** What should not be in the mirror, and is. */
async function privacy(context: ProcessContext, settings: Settings): Promise<Checkup> {
  const check = 'privacy';
  const { exclude } = settings.vendors;
  const unknown = exclude.filter((name) => !vendorFields.some((field) => field === name));
  try {
    const mirror = openMirror(context, settings);
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
  const message = `${megabytes(free)} are free beside the database.`;
  if (free < spaceForDeliveries) return problem(check, new MirrorError('disk_full', message));
  return free < limits.freeSpace ? warning(check, message, catalogue.disk_full.hint) : fine(check, message);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestFolder(folder);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}

/** `doctor` on what the mirror says of an account: whether it is paused, how old it is, and what could not be read. */
export async function mirrorCheckups(context: ProcessContext, settings: Settings, account: string): Promise<Checkup[]> {
  const health = await healthOf(context, settings, account);
  return health
    ? [
        freshness(context, health),
        refused(context, health),
        queue(health),
        values(health),
        ...lastRun(health),
        ...ofVendors(health),
      ]
    : [];
}

/** That an account is paused: then nothing is requested about it, not even to check. */
export async function pausedCheckup(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<Checkup | undefined> {
  const health = await healthOf(context, settings, account);
  const paused = health?.problems.find(({ code }) => code === 'paused');
  return paused && warning('paused', paused.message, `\`vendor-mirror accounts resume ${account}\` resumes it.`);
}

async function healthOf(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<AccountHealth | undefined> {
  const mirror = openMirror(context, settings);
  try {
    return judge(await mirrorFacts(context, settings, mirror, account), context.clock.now()).accounts.find(
      ({ facts }) => facts.account === account,
    );
  } finally {
    await mirror?.close();
  }
}

const ofAge = new Set<ProblemCode>(['first_pull', 'never_mirrored', 'clock_set_back', 'stale']);

function freshness({ clock }: ProcessContext, { facts, problems, error }: AccountHealth): Checkup {
  const check = 'freshness';
  const found = problems.find(({ code }) => ofAge.has(code));
  if (!found) return fine(check, `The lists were read ${age(clock, facts.freshness.listed_as_of)}.`);
  const why = found.remedy === null && error?.run.error ? ` The last run said: ${error.run.error}` : '';
  return warning(check, `${found.message}${why}`, found.remedy ?? error?.hint ?? 'Run `vendor-mirror status`.');
}

function refused({ clock }: ProcessContext, { facts, problems }: AccountHealth): Checkup {
  const check = 'refused deliveries';
  const found =
    problems.find(({ code }) => code === 'deliveries_refused') ?? problems.find(({ code }) => code === 'address_known');
  if (found) return warning(check, found.message, found.remedy ?? '');
  const astray = unknownPaths(facts.refused, clock.now());
  return astray
    ? warning(
        check,
        `${counted(astray.refused, 'request')} ${refusalWords(astray.outcome, null)}, the last ${age(clock, astray.last_at)}.`,
        refusalRemedy(astray.outcome, facts.account),
      )
    : fine(check, 'None was refused within a day and after the last that was accepted.');
}

function values({ problems }: AccountHealth): Checkup {
  const check = 'values';
  const found = problems.find(({ code }) => code === 'values_unreadable');
  return found
    ? warning(check, found.message, found.remedy ?? '')
    : fine(check, 'Every value that the service sent could be read.');
}

function queue({ facts: { parkedFor }, problems }: AccountHealth): Checkup {
  const check = 'queue';
  const [first] = parkedFor;
  if (!first) {
    const stuck = problems.find(({ code }) => code === 'queue_stuck');
    return stuck ? warning(check, stuck.message, stuck.remedy ?? '') : fine(check, 'No changed vendor was given up.');
  }
  const vendors = parkedFor.reduce((sum, reason) => sum + reason.vendors, 0);
  const why = first.error === null ? '' : ` Most often: ${first.error}`;
  return warning(
    check,
    `${counted(vendors, 'changed vendor')} could not be read and wait${vendors === 1 ? 's' : ''} for the next reconciliation.${why}`,
    'Remove the cause; then `vendor-mirror deliveries retry` tries again at once.',
  );
}

/** Where the service was reached, and the list was not complete; what keeps a run from reaching it, the requests of `doctor` meet too. */
function lastRun({ problems, error }: AccountHealth): Checkup[] {
  const isIncomplete = error?.code != null && catalogue[error.code].exit === exitStatus.incomplete;
  return problems
    .filter(({ code }) => isIncomplete && code === 'last_run')
    .map(({ message, remedy }) => warning('last run', message, remedy ?? ''));
}

const checkOf: Partial<Record<ProblemCode, string>> = {
  absences_waiting: 'absences',
  absences_unproven: 'absences',
  token_sees_less: 'absences',
  vendors_undecided: 'undecided',
};

/** Nothing where every vendor could be decided about. */
function ofVendors({ problems }: AccountHealth): Checkup[] {
  return problems.flatMap(({ code, message, remedy }) => {
    const check = checkOf[code];
    return check === undefined ? [] : warning(check, message, remedy ?? '');
  });
}
