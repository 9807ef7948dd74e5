/** What a daemon does now and then: removes old rows, checks the files and copies their journals into them, and notices jumps of the clock. */
import { sleptThrough, type Clock } from '../domain/clock.ts';
import { Background, background, repeatedly, type Service } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError, withFullStop } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import type { ServiceTime } from '../domain/service-time.ts';
import type { Settings } from '../settings/parse.ts';
import { checkWholeFile } from '../store/files/damage.ts';
import type { Store } from '../store/mirror.ts';
import type { Secrets } from '../store/secrets/secrets.ts';

interface MaintenanceOptions {
  readonly mirror: Pick<Store, 'prune'> & {
    readonly place: Pick<Store['place'], 'sizes' | 'assertOurs' | 'copyJournal'>;
  };
  readonly secrets: { readonly place: Pick<Secrets['place'], 'assertOurs' | 'copyJournal'> };
  readonly retention: Settings['retention'];
  readonly serviceTime: Pick<ServiceTime, 'isProven'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often old rows are removed, in milliseconds; the files are checked whenever their journals are copied into them. */
const pruneEvery = 3_600_000;

/** How long deliveries and other work have before the next batch of old rows is removed, in milliseconds: many times what a batch takes. */
const betweenBatches = 50;

export function createMaintenance({
  mirror,
  secrets,
  retention,
  serviceTime,
  clock,
  log,
}: MaintenanceOptions): Service {
  let warned = false;

  const checkFiles = (): void => {
    try {
      mirror.place.assertOurs();
      secrets.place.assertOurs();
    } catch {
      // The error was reported when it was found.
      return;
    }
    const { walBytes } = mirror.place.sizes();
    const large = walBytes > limits.journal;
    if (large && !warned)
      log.warn({ bytes: walBytes }, 'the journal of the database grows: a program keeps a query open');
    warned = large;
  };

  /** Whoever copies, syncs or mounts a file alone, without its journal, gets what it was a minute ago. */
  const copyJournals = async (): Promise<void> => {
    await mirror.place.copyJournal();
    await secrets.place.copyJournal();
  };

  const prune = async (signal: AbortSignal): Promise<void> => {
    // By a clock that is years ahead for a moment, everything would be old.
    if (!serviceTime.isProven) return;
    const since = (age: number | null): number | undefined => (age === null ? undefined : clock.now() - age);
    const { deliveries, runs, versions } = retention;
    const keep = { deliveriesSince: since(deliveries), runsSince: since(runs), versionsSince: since(versions) };
    let removed = 0;
    for await (const some of mirror.prune(keep)) {
      removed += some;
      if (!(await sleptThrough(clock, betweenBatches, signal))) break;
    }
    if (removed > 0) log.info({ rows: removed }, 'old rows were removed');
  };

  const attempt = async (task: () => Promise<void> | void): Promise<void> => {
    try {
      await task();
    } catch (error) {
      log.warn({ err: asMirrorError(error) }, 'maintenance failed and will be tried again');
    }
  };

  return background('the maintenance', (signal) =>
    Promise.all([
      repeatedly(clock, limits.journalCopied, signal, () => attempt(checkFiles)),
      repeatedly(clock, limits.journalCopied, signal, () => attempt(copyJournals)),
      repeatedly(clock, pruneEvery, signal, () => attempt(() => prune(signal))),
    ]),
  );
}

interface IntegrityCheckOptions {
  /** The mirror. */
  readonly path: string;
  /** Why it must be checked; undefined where it need not be. */
  readonly reason: string | undefined;
  readonly log: Log;
  /** The mirror is damaged: the process must end. The next one moves the file aside. */
  readonly onFatal: (error: MirrorError) => void;
}

/** Checks the integrity of a mirror that was not closed cleanly, while the daemon already works with it. */
export class IntegrityCheck extends Background {
  readonly name = 'the integrity check';
  readonly #options: IntegrityCheckOptions;
  #passed: boolean;

  constructor(options: IntegrityCheckOptions) {
    super();
    this.#options = options;
    this.#passed = options.reason === undefined;
  }

  /** Whether the file passed the check, or was closed cleanly. */
  get passed(): boolean {
    return this.#passed;
  }

  override start(): Promise<void> {
    return this.#passed ? Promise.resolve() : super.start();
  }

  protected async work(signal: AbortSignal): Promise<void> {
    const { path, reason, log, onFatal } = this.#options;
    log.info({ reason }, 'checking the integrity of the mirror');
    try {
      const faults = await checkWholeFile(path, signal);
      this.#passed = faults.length === 0;
      if (this.#passed) log.info('the mirror passed the integrity check');
      else onFatal(new MirrorError('database_corrupt', withFullStop(`${path} is damaged: ${faults.join('; ')}`)));
    } catch (error) {
      if (!signal.aborted) log.warn({ err: asMirrorError(error) }, 'the integrity check could not be finished');
    }
  }
}

const tick = 30_000;

/** Delays of a busy machine up to this are not taken for a jump. */
const tolerance = 2 * tick;

/**
 * Detects jumps of the wall clock, of a suspended or stopped machine or a clock that was set: sleeps half a minute at a time, and compares
 * the wall clock with what it should then show.
 * @param onTick is called each time, because smaller changes of the clock matter to others; it does not fail
 * @param onJump is called with how far it jumped, in milliseconds; negative where it was set back
 */
export function createClockJumpDetector(
  clock: Clock,
  onTick: () => Promise<void>,
  onJump: (ms: number) => void,
): Service {
  return background('the clock jump detector', async (signal) => {
    for (;;) {
      const expected = clock.now() + tick;
      if (!(await sleptThrough(clock, tick, signal))) return;
      const jump = clock.now() - expected;
      await onTick();
      if (Math.abs(jump) > tolerance) onJump(jump);
    }
  });
}
