/**
 * Copies for readers: each is written after changes or on a schedule, one at a time, and swapped in whole.
 *
 * What follows changes follows the change feed, whatever wrote there: a run, a delivery, a command in another process. Changes that come
 * together share a copy. At the start, and at any time, what is missing, was replaced, lacks changes or is made of another query now is
 * written. One that fails is tried again after a while, behind the others; one that takes too long is given up for that time. The mirror
 * keeps what became of each, for `status` and everybody else.
 */
import { basename } from 'node:path';
import { sleptThrough, type Clock, type Random } from '../domain/clock.ts';
import { Background, sharedWait, unlessAborted } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import { checkCron, CronSlots } from '../schedule/cron-slots.ts';
import { Schedule } from '../schedule/schedule.ts';
import { publishedFiles, type FilePublication, type Settings } from '../settings/parse.ts';
import type { Store } from '../store/mirror.ts';
import { cursorParts } from '../store/reports/feed-cursor.ts';
import type { PublicationRow } from '../store/publications.ts';

interface PublicationsOptions {
  readonly settings: Pick<Settings, 'publish' | 'secrets' | 'readFrom'> & {
    readonly schedule: Pick<Settings['schedule'], 'timezone'>;
  };
  readonly mirror: Pick<Store, 'publish' | 'publishedAt'> & {
    readonly publications: Pick<Store['publications'], 'place' | 'find' | 'wrote' | 'failed'>;
  };
  /** The compiled process that copies and exports. */
  readonly program: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How often the end of the feed is looked at, in milliseconds. */
const lookEvery = 1_000;

/** One file to be kept. All moments are monotonic. */
interface Copy {
  readonly publication: FilePublication;
  readonly definition: string;
  readonly followsChanges: boolean;
  /** What the mirror knows of it; undefined where that is nothing, or not read yet. */
  known: PublicationRow | undefined;
  /** Since when it should be written; undefined while it need not be. */
  wantedSince: number | undefined;
  /** When it may be begun. */
  due: number;
  /** The end of the feed when it was looked at last. */
  seen: string | undefined;
  failures: number;
  logged: string | undefined;
}

export class Publications extends Background {
  readonly name = 'the copies for readers';
  readonly #options: PublicationsOptions;
  readonly #copies: readonly Copy[];
  readonly #schedules: readonly Schedule[];

  constructor(options: PublicationsOptions) {
    super();
    this.#options = options;
    const { settings, mirror, clock, random, log } = options;
    this.#copies = publishedFiles(settings.publish).map((publication) => ({
      publication,
      definition: JSON.stringify([publication.format, publication.view, publication.query]),
      followsChanges: publication.when === 'change',
      ...{ known: undefined, wantedSince: undefined, due: -Infinity, seen: undefined, failures: 0, logged: undefined },
    }));
    this.#schedules = this.#copies
      .filter(({ followsChanges }) => !followsChanges)
      .map(
        (copy) =>
          new Schedule({
            ...{ clock, random, log },
            name: `publish ${basename(copy.publication.path)}`,
            slots: new CronSlots(copy.publication.when, settings.schedule.timezone),
            lastRun: mirror.publishedAt(copy.publication.path),
            run: () => {
              this.#want(copy);
              return Promise.resolve();
            },
          }),
      );
  }

  override async start(): Promise<void> {
    if (this.#copies.length === 0) return;
    for (const schedule of this.#schedules) await schedule.start();
    await super.start();
  }

  /** Aborts the copy that is being written; the earlier file stays. */
  override async stop(): Promise<void> {
    await Promise.all([...this.#schedules.map((schedule) => schedule.stop()), super.stop()]);
  }

  #want(copy: Copy): void {
    copy.wantedSince ??= this.#options.clock.monotonic();
  }

  protected async work(signal: AbortSignal): Promise<void> {
    const { clock, mirror } = this.#options;
    for (const copy of this.#copies) {
      copy.known = await mirror.publications.find(copy.publication.path).catch(() => undefined);
      if (copy.known?.failing_since) this.#want(copy);
    }
    do {
      await this.#look();
      for (let copy = this.#next(); copy && !signal.aborted; copy = this.#next()) {
        await this.#write(copy, signal);
        await this.#look();
      }
    } while (await sleptThrough(clock, sharedWait(clock, lookEvery), signal));
  }

  /** Finds out which copies lack something. */
  async #look(): Promise<void> {
    const { clock, mirror } = this.#options;
    const now = clock.monotonic();
    // A mirror that cannot be read is reported by everything else; the next look tries again.
    const place = await mirror.publications.place().catch(() => undefined);
    // Nothing was ever mirrored: readers are not given an empty copy.
    if (place === undefined || cursorParts(place)?.seq === 0) return;
    for (const copy of this.#copies) {
      if (!copy.followsChanges) continue;
      const { publication, definition, known, seen } = copy;
      const isCurrent =
        known?.place === place &&
        known.definition === definition &&
        known.file_ms === (mirror.publishedAt(publication.path) ?? null);
      if (isCurrent) {
        copy.wantedSince = undefined;
        copy.seen = place;
      } else if (seen !== place) {
        this.#want(copy);
        copy.seen = place;
        // The first look finds what was missed while no daemon ran: that does not wait.
        if (seen !== undefined && copy.failures === 0)
          copy.due = Math.min(now + limits.publishQuiet, (copy.wantedSince ?? now) + limits.publishLongest);
      } else this.#want(copy);
    }
  }

  /** The copy that has waited longest. */
  #next(): Copy | undefined {
    const now = this.#options.clock.monotonic();
    const due = this.#copies.filter((copy) => copy.wantedSince !== undefined && copy.due <= now);
    return due.sort((a, b) => (a.wantedSince ?? 0) - (b.wantedSince ?? 0))[0];
  }

  async #write(copy: Copy, stopping: AbortSignal): Promise<void> {
    const { mirror, settings, program, clock, log } = this.#options;
    const { publication, definition } = copy;
    const { path } = publication;
    const limit = new AbortController();
    const cancel = clock.timer(limits.publishTime, () => limit.abort(tooSlow(path)));
    try {
      const place = await mirror.publications.place();
      const signal = AbortSignal.any([stopping, limit.signal]);
      const written = mirror.publish(publication, { own: settings, program, signal });
      const { noTimes } = await unlessAborted(written, limit.signal);
      const file_ms = mirror.publishedAt(path) ?? null;
      await mirror.publications.wrote(path, { place, definition, file_ms });
      copy.known = await mirror.publications.find(path);
      if (copy.failures > 0) log.info({ path }, 'the copy for readers is written again');
      copy.wantedSince = undefined;
      copy.failures = 0;
      copy.logged = undefined;
      copy.due = -Infinity;
      if (noTimes > 0) log.warn({ path, texts: noTimes }, 'texts in time columns that are not times were left empty');
    } catch (error) {
      if (!stopping.aborted) await this.#failed(copy, asMirrorError(error));
    } finally {
      cancel();
    }
  }

  async #failed(copy: Copy, error: MirrorError): Promise<void> {
    const { mirror, clock, log } = this.#options;
    const { path } = copy.publication;
    copy.failures += 1;
    const now = clock.monotonic();
    copy.wantedSince = now;
    copy.due = now + retryDelay(copy.failures);
    const facts = { path, code: error.code, failures: copy.failures, err: error };
    if (copy.logged === error.code) log.debug(facts, 'the copy for readers could not be published');
    else log.error(facts, 'the copy for readers could not be published; it is tried again');
    copy.logged = error.code;
    // Where not even that can be written, the log has it.
    await mirror.publications.failed(path, error).catch(() => undefined);
  }
}

/** How long a publication waits after so many failures. */
export function retryDelay(failures: number): number {
  return Math.min(limits.publishRetryAtMost, limits.publishRetry * 2 ** Math.min(failures - 1, 10));
}

function tooSlow(path: string): MirrorError {
  const minutes = limits.publishTime / 60_000;
  return new MirrorError('copy_too_slow', `${path} was not written within ${minutes} minutes.`);
}

/** @throws MirrorError `settings_invalid` that names every schedule that cannot be used, those of sweeps included. */
export function refuseBadSchedules({ schedule, publish }: Pick<Settings, 'schedule' | 'publish'>): void {
  const schedules = (['pull', 'reconcile'] as const)
    .map((kind): [string, string] => [`schedule.${kind}`, schedule[kind]])
    .concat(publish.map(({ when }, index): [string, string] => [`publish.${index}.when`, when]));
  const problems = schedules.flatMap(([name, when]) => {
    const problem = when === 'change' ? undefined : checkCron(when);
    return problem === undefined ? [] : [`  ${name}: ${problem}`];
  });
  if (problems.length > 0)
    throw new MirrorError('settings_invalid', `The schedules cannot be used:\n${problems.join('\n')}`);
}

/** @throws MirrorError `settings_invalid` where a publication names a view that is not there, or a query that cannot be used. */
export async function refuseBadSources(publish: Settings['publish'], mirror: Pick<Store, 'place'>): Promise<void> {
  const problems: string[] = [];
  for (const [index, publication] of publish.entries()) {
    if ('to' in publication) continue;
    try {
      await mirror.place.assertPublishable(publication);
    } catch (error) {
      if (!(error instanceof MirrorError) || error.code !== 'usage') throw error;
      problems.push(`  publish.${index}: ${error.message}`);
    }
  }
  if (problems.length > 0)
    throw new MirrorError('settings_invalid', `Copies cannot be published:\n${problems.join('\n')}`);
}
