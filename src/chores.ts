/** Small things that a daemon does now and then: forgetting what is old, and looking after its file. */
import { sleep, type Clock } from './clock.ts';
import type { Settings } from './config.ts';
import { asMirrorError, MirrorError } from './errors.ts';
import type { Service } from './lifecycle.ts';
import type { Log } from './log.ts';
import type { Mirror } from './store/mirror.ts';
import type { Secrets } from './store/secrets.ts';

export interface ChoreOptions {
  readonly mirror: Pick<Mirror, 'prune' | 'files' | 'path'>;
  readonly secrets: Pick<Secrets, 'files' | 'path'>;
  readonly retention: Settings['retention'];
  readonly clock: Clock;
  readonly log: Log;
  /** A file is no longer where it was opened: what is written now, nobody would find. */
  readonly onFatal: (error: MirrorError) => void;
}

/** How often the file is looked at, and old rows are removed, in milliseconds. */
const lookEvery = 60_000;
const pruneEvery = 3_600_000;

/** A journal of this size means that some reader never lets go, in bytes. */
const largeJournal = 64 * 2 ** 20;

export function createChores({ mirror, secrets, retention, clock, log, onFatal }: ChoreOptions): Service {
  let life: { readonly ended: Promise<void>; readonly stop: AbortController } | undefined;
  let warned = false;

  const look = (): void => {
    const files = mirror.files();
    if (!files || !secrets.files()) {
      const { path } = files ? secrets : mirror;
      onFatal(new MirrorError('database_unusable', `${path} was moved or deleted while it was in use.`));
      return;
    }
    const large = files.walBytes > largeJournal;
    if (large && !warned)
      log.warn(
        { bytes: files.walBytes },
        'the journal of the database grows: some program reads it and never ends its query',
      );
    warned = large;
  };

  const prune = async (): Promise<void> => {
    const since = (age: number | null): number | undefined => (age === null ? undefined : clock.now() - age);
    const removed = await mirror.prune({
      deliveriesSince: since(retention.deliveries),
      versionsSince: since(retention.versions),
    });
    if (removed > 0) log.info({ rows: removed }, 'old rows were removed');
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    for (let next = 0; !signal.aborted;) {
      try {
        look();
        if (clock.monotonic() >= next) {
          next = clock.monotonic() + pruneEvery;
          await prune();
        }
      } catch (error) {
        log.warn({ err: asMirrorError(error) }, 'a chore failed and will be tried again');
      }
      await sleep(clock, lookEvery, signal).catch(() => undefined);
    }
  };

  return {
    name: 'the chores',
    start() {
      const stop = new AbortController();
      life ??= { stop, ended: work(stop.signal) };
      return Promise.resolve();
    },
    async stop() {
      life?.stop.abort(new Error('Stopping.'));
      await life?.ended;
    },
  };
}
