/** Periodic maintenance: removes old rows and checks the files. */
import { sleptThrough, type Clock } from '../../domain/clock.ts';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError } from '../../domain/errors.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { background, repeatedly } from '../../domain/async/background.ts';
import type { Log } from '../../domain/log.ts';
import type { Secrets } from '../../store/secrets/secrets.ts';
import type { Store } from '../../store/store.ts';

export interface MaintenanceOptions {
  readonly mirror: Pick<Store, 'prune' | 'sizes' | 'assertOurs'>;
  readonly secrets: Pick<Secrets, 'assertOurs'>;
  readonly retention: Settings['retention'];
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the file is checked and old rows are removed, in milliseconds. */
const checkEvery = 60_000;
const pruneEvery = 3_600_000;

/** How long deliveries and other work have before the next batch of old rows is removed, in milliseconds: many times what a batch takes. */
const betweenBatches = 50;

/** A journal of this size means that a reader keeps a query open, in bytes. */
const largeJournal = 64 * 2 ** 20;

export function createMaintenance({ mirror, secrets, retention, clock, log }: MaintenanceOptions): Service {
  let warned = false;

  const checkFiles = (): void => {
    try {
      mirror.assertOurs();
      secrets.assertOurs();
    } catch {
      // The error was reported when it was found.
      return;
    }
    const { walBytes } = mirror.sizes();
    const large = walBytes > largeJournal;
    if (large && !warned)
      log.warn({ bytes: walBytes }, 'the journal of the database grows: a program keeps a query open');
    warned = large;
  };

  const prune = async (signal: AbortSignal): Promise<void> => {
    const since = (age: number | null): number | undefined => (age === null ? undefined : clock.now() - age);
    const keep = { deliveriesSince: since(retention.deliveries), versionsSince: since(retention.versions) };
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
      repeatedly(clock, checkEvery, signal, () => attempt(checkFiles)),
      repeatedly(clock, pruneEvery, signal, () => attempt(() => prune(signal))),
    ]),
  );
}
