/** Small things that a daemon does now and then: forgetting what is old, and looking after its file. */
import { sleep, type Clock } from '../domain/clock.ts';
import type { Settings } from '../settings/parse.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import type { Mirror } from '../store/mirror.ts';
import type { Secrets } from '../store/secrets/secrets.ts';

export interface MaintenanceOptions {
  readonly mirror: Pick<Mirror, 'prune' | 'files' | 'assertOurs'>;
  readonly secrets: Pick<Secrets, 'assertOurs'>;
  readonly retention: Settings['retention'];
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the file is looked at, and old rows are removed, in milliseconds. */
const lookEvery = 60_000;
const pruneEvery = 3_600_000;

/** How long deliveries and other work have before the next batch of old rows is removed, in milliseconds: many times what a batch takes. */
const betweenBatches = 50;

/** A journal of this size means that some reader never lets go, in bytes. */
const largeJournal = 64 * 2 ** 20;

export function createMaintenance({ mirror, secrets, retention, clock, log }: MaintenanceOptions): Service {
  let life: { readonly ended: Promise<unknown>; readonly stop: AbortController } | undefined;
  let warned = false;

  const look = (): void => {
    try {
      mirror.assertOurs();
      secrets.assertOurs();
    } catch {
      // Whoever ends the process was told when it was found.
      return;
    }
    const files = mirror.files();
    if (!files) return;
    const large = files.walBytes > largeJournal;
    if (large && !warned)
      log.warn(
        { bytes: files.walBytes },
        'the journal of the database grows: some program reads it and never ends its query',
      );
    warned = large;
  };

  const prune = async (signal: AbortSignal): Promise<void> => {
    const since = (age: number | null): number | undefined => (age === null ? undefined : clock.now() - age);
    const keep = { deliveriesSince: since(retention.deliveries), versionsSince: since(retention.versions) };
    let removed = 0;
    for await (const some of mirror.prune(keep)) {
      removed += some;
      if (await stopsWithin(signal, betweenBatches)) break;
    }
    if (removed > 0) log.info({ rows: removed }, 'old rows were removed');
  };

  const stopsWithin = (signal: AbortSignal, ms: number): Promise<boolean> =>
    sleep(clock, ms, signal).then(
      () => false,
      () => true,
    );

  const repeat = async (ms: number, signal: AbortSignal, task: (signal: AbortSignal) => Promise<void> | void) => {
    do
      try {
        await task(signal);
      } catch (error) {
        log.warn({ err: asMirrorError(error) }, 'a chore failed and will be tried again');
      }
    while (!(await stopsWithin(signal, ms)));
  };

  return {
    name: 'the chores',
    start() {
      const stop = new AbortController();
      life ??= {
        stop,
        ended: Promise.all([repeat(lookEvery, stop.signal, look), repeat(pruneEvery, stop.signal, prune)]),
      };
      return Promise.resolve();
    },
    async stop() {
      life?.stop.abort(new Error('Stopping.'));
      await life?.ended;
    },
  };
}
