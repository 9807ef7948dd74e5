/** Copies for readers: each is written after a change or on a schedule, one at a time, and swapped in whole. */
import { basename } from 'node:path';
import type { Clock, Random } from '../domain/clock.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { checkCron, CronSlots } from '../schedule/cron-slots.ts';
import { Schedule } from '../schedule/schedule.ts';
import type { Settings } from '../settings/parse.ts';
import { assertRowSource } from '../store/export/export-rows.ts';
import type { Store } from '../store/mirror.ts';

type PublicationSettings = Settings['publish'][number];

interface PublicationsOptions {
  readonly settings: Pick<Settings, 'publish' | 'secrets' | 'readFrom'> & {
    readonly schedule: Pick<Settings['schedule'], 'timezone'>;
  };
  readonly mirror: Pick<Store, 'publish' | 'publishedAt'>;
  /** The compiled process that copies and exports. */
  readonly program: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class Publications implements Service {
  readonly name = 'the copies for readers';
  readonly #options: PublicationsOptions;
  readonly #schedules: readonly Schedule[];
  readonly #stopping = new AbortController();
  readonly #wanted = new Set<PublicationSettings>();
  #working: Promise<void> | undefined;

  constructor(options: PublicationsOptions) {
    this.#options = options;
    const { settings, mirror, clock, random, log } = options;
    this.#schedules = settings.publish
      .filter(({ when }) => when !== 'change')
      .map(
        (publication) =>
          new Schedule({
            ...{ clock, random, log },
            name: `publish ${basename(publication.path)}`,
            slots: new CronSlots(publication.when, settings.schedule.timezone),
            lastRun: mirror.publishedAt(publication.path),
            run: () => this.#write(publication),
          }),
      );
  }

  async start(): Promise<void> {
    for (const schedule of this.#schedules) await schedule.start();
  }

  /** Aborts the copy that is being written; the earlier file stays. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('Stopping.'));
    await Promise.all(this.#schedules.map((schedule) => schedule.stop()));
    await this.#working;
  }

  /** The mirror changed. Changes that come while a copy is written share the next one. */
  changed(): void {
    for (const publication of this.#options.settings.publish)
      if (publication.when === 'change') void this.#write(publication);
  }

  #write(publication: PublicationSettings): Promise<void> {
    this.#wanted.add(publication);
    return (this.#working ??= this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    const { mirror, settings, program, log } = this.#options;
    const { signal } = this.#stopping;
    for (const publication of this.#wanted) {
      this.#wanted.delete(publication);
      try {
        const { noTimes } = await mirror.publish(publication, { own: settings, program, signal });
        if (noTimes > 0)
          log.warn(
            { path: publication.path, texts: noTimes },
            'texts in time columns that are not times were left empty',
          );
      } catch (error) {
        if (signal.aborted) break;
        log.error({ err: asMirrorError(error) }, 'the copy for readers could not be published');
      }
    }
    // In the same turn as the last check, so that no request is missed in between.
    this.#working = undefined;
  }
}

/** What is wrong with the schedules of publications, as lines. */
export function badPublicationSchedules(publish: Settings['publish']): string[] {
  return publish.flatMap(({ when }, index) => {
    const problem = when === 'change' ? undefined : checkCron(when);
    return problem === undefined ? [] : [`  publish.${index}.when: ${problem}`];
  });
}

/** @throws MirrorError `settings_invalid` that names every schedule that cannot be used, those of sweeps included. */
export function refuseBadSchedules({ schedule, publish }: Settings): void {
  const problems = (['pull', 'reconcile'] as const).flatMap((kind) => {
    const problem = checkCron(schedule[kind]);
    return problem === undefined ? [] : [`  schedule.${kind}: ${problem}`];
  });
  problems.push(...badPublicationSchedules(publish));
  if (problems.length > 0)
    throw new MirrorError('settings_invalid', `The schedules cannot be used:\n${problems.join('\n')}`);
}

/** @throws MirrorError `settings_invalid` where a publication names a view that is not there, or a query that cannot be used. */
export async function refuseBadSources(publish: Settings['publish'], { query }: Pick<Store, 'query'>): Promise<void> {
  const problems = await query((snapshot) =>
    publish.flatMap((publication, index) => {
      try {
        assertRowSource(snapshot, publication);
        return [];
      } catch (error) {
        if (!(error instanceof MirrorError) || error.code !== 'usage') throw error;
        return [`  publish.${index}: ${error.message}`];
      }
    }),
  );
  if (problems.length > 0)
    throw new MirrorError('settings_invalid', `Copies cannot be published:\n${problems.join('\n')}`);
}
