/**
 * Rows in somebody's PostgreSQL, kept after changes or on a schedule. Each has a loop of its own, so that a server that is down, slow or full
 * holds up neither another nor the files for readers. As with files, changes that come together are written together, one that fails is tried
 * again less and less often, and the mirror keeps what became of each. Freshness changes without a change of a vendor, and is looked at once a
 * minute. Whether others altered rows there is looked at with the first round and then once an hour, or so seldom that it takes a hundredth of
 * the time.
 */
import { sleptThrough, parseInstant, type Clock, type Random } from '../domain/clock.ts';
import { Background, sharedWait } from '../domain/concurrency.ts';
import { asMirrorError, type MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import { CronSlots } from '../schedule/cron-slots.ts';
import { Schedule } from '../schedule/schedule.ts';
import type { PostgresPublication } from '../settings/parse.ts';
import type { Store } from '../store/mirror.ts';
import { withCurrentPassword } from '../store/postgres/server.ts';
import { freshnessRows } from '../store/sink/mirror-rows.ts';
import { Sink, sinkDefinition } from '../store/sink/sink.ts';
import { cursorParts } from '../store/reports/feed-cursor.ts';
import type { Migration } from '../store/sqlite/migrate.ts';
import { retryDelay } from './publications.ts';

export interface SinkServiceOptions {
  readonly publication: PostgresPublication;
  readonly timezone: string;
  readonly mirror: Pick<Store, 'identity' | 'path' | 'query'> & {
    readonly publications: Pick<Store['publications'], 'register' | 'place' | 'wrote' | 'failed'>;
  };
  /** This machine's name. */
  readonly host: string;
  /** Of the tables there. */
  readonly migrations: readonly Migration[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How often the end of the feed is looked at, in milliseconds. */
const lookEvery = 1_000;
/** How long the end of the program may wait until another installation may write. */
const releaseLimit = 2_000;

export class SinkService extends Background {
  readonly name: string;
  readonly #options: SinkServiceOptions;
  #schedule: Schedule | undefined;
  #sink: Sink | undefined;
  /** Begins anew whenever something is forgotten. */
  #generation = 0;
  /** What is there, as far as this process wrote it. */
  #written:
    | { readonly cursor: string; readonly definition: string; readonly freshness: string; readonly at: number }
    | undefined;
  /** The end of the feed when it was looked at last, and when it was first not there. */
  #seen: { readonly place: string; readonly behindSince: number; readonly at: number } | undefined;
  #freshnessSeen = -Infinity;
  /** When all rows are compared again. */
  #comparisonDue = -Infinity;
  #isWanted = false;
  #retryAt = -Infinity;
  #failures = 0;
  #logged: string | undefined;

  constructor(options: SinkServiceOptions) {
    super();
    this.#options = options;
    this.name = `the rows in ${options.publication.path}`;
  }

  override async start(): Promise<void> {
    const { publication, timezone, mirror, clock, random, log } = this.#options;
    const { path, when } = publication;
    const known = await mirror.publications.register(path);
    this.#generation = known.file_ms ?? 0;
    this.#isWanted = known.failing_since !== null;
    const { mirrorId } = await mirror.identity();
    const writer = Buffer.from(random.bytes(16)).toString('hex');
    const keptBy = `${this.#options.host}:${mirror.path}`;
    const { migrations } = this.#options;
    const server = withCurrentPassword(publication);
    this.#sink = new Sink({ server, query: mirror.query, clock, mirrorId, keptBy, writer, migrations });
    if (when !== 'change')
      this.#schedule = new Schedule({
        ...{ clock, random, log },
        name: `publish ${path}`,
        slots: new CronSlots(when, timezone),
        lastRun: known.written_at === null ? undefined : parseInstant(known.written_at),
        run: () => {
          this.#isWanted = true;
          return Promise.resolve();
        },
      });
    await this.#schedule?.start();
    await super.start();
  }

  /** Cuts the connection: what was committed is kept, and the rest is written after the next start. */
  override async stop(): Promise<void> {
    await Promise.all([this.#schedule?.stop(), super.stop()]);
    const sink = this.#sink;
    this.#sink = undefined;
    const limit = new AbortController();
    const cancel = this.#options.clock.timer(releaseLimit, () => limit.abort(new Error('Releasing took too long.')));
    // Otherwise, others wait until `kept_until`.
    await sink?.release(limit.signal).catch(() => undefined);
    cancel();
  }

  protected async work(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // A mirror that cannot be read is reported by everything else; the next look tries again.
    do if (await this.#isDue().catch(() => false)) await this.#write(signal);
    while (await sleptThrough(clock, sharedWait(clock, lookEvery), signal));
  }

  async #isDue(): Promise<boolean> {
    const { publication, mirror, clock } = this.#options;
    const now = clock.monotonic();
    const place = await mirror.publications.place();
    // Nothing was ever mirrored: readers are not given empty tables.
    if (cursorParts(place)?.seq === 0 || now < this.#retryAt) return false;
    if (this.#failures > 0 || this.#isWanted) return true;
    if (publication.when !== 'change') return false;
    const written = this.#written;
    // What was missed while no daemon ran does not wait.
    if (!written) return true;
    if (written.cursor !== place || written.definition !== (await this.#definition())) {
      if (this.#seen?.place !== place) this.#seen = { place, behindSince: this.#seen?.behindSince ?? now, at: now };
      return now - this.#seen.at >= limits.publishQuiet || now - this.#seen.behindSince >= limits.publishLongest;
    }
    this.#seen = undefined;
    if (now - this.#freshnessSeen < limits.sinkFreshness) return false;
    this.#freshnessSeen = now;
    if (now >= this.#comparisonDue) return true;
    return now - written.at >= limits.sinkKept / 2 || written.freshness !== (await this.#freshness());
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { publication, mirror, clock, log } = this.#options;
    const { path } = publication;
    this.#isWanted = false;
    try {
      const definition = await this.#definition();
      const freshness = await this.#freshness();
      const begun = clock.monotonic();
      const compares = begun >= this.#comparisonDue;
      const report = await this.#sink?.update({ definition, keptFor: this.#keptFor(), compares, signal });
      if (!report) return;
      const { cursor, earlier, repaired } = report;
      const now = clock.monotonic();
      if (compares) this.#comparisonDue = now + Math.max(limits.sinkCompared, 100 * (now - begun));
      if (repaired)
        log.warn(
          { path, ...repaired },
          'others had altered, deleted or added rows in PostgreSQL; they are again those of the mirror',
        );
      await mirror.publications.wrote(path, { place: cursor, definition, file_ms: this.#generation });
      if (this.#failures > 0) log.info({ path }, 'the rows in PostgreSQL are written again');
      if (!this.#written && earlier.length > 0)
        log.warn(
          { path, mirrors: earlier },
          'an earlier mirror at this place left rows there: to remove them, delete its row in the table mirrors',
        );
      this.#written = { cursor, definition, freshness, at: clock.monotonic() };
      this.#freshnessSeen = clock.monotonic();
      this.#seen = undefined;
      this.#failures = 0;
      this.#retryAt = -Infinity;
      this.#logged = undefined;
    } catch (error) {
      if (!signal.aborted) await this.#failed(asMirrorError(error));
    }
  }

  async #failed(error: MirrorError): Promise<void> {
    const { publication, mirror, clock, log } = this.#options;
    const { path } = publication;
    this.#failures += 1;
    this.#retryAt = clock.monotonic() + retryDelay(this.#failures);
    const facts = { path, code: error.code, failures: this.#failures, err: error };
    if (this.#logged === error.code) log.debug(facts, 'the rows in PostgreSQL could not be written');
    else log.error(facts, 'the rows in PostgreSQL could not be written; it is tried again');
    this.#logged = error.code;
    // Where not even that can be written, the log has it.
    await mirror.publications.failed(path, error).catch(() => undefined);
  }

  /** Until well after the next round. */
  #keptFor(): number {
    const { publication, timezone, clock } = this.#options;
    if (publication.when === 'change') return limits.sinkKept;
    const next = new CronSlots(publication.when, timezone).after(clock.now());
    return Math.max(0, next - clock.now()) + limits.sinkKept;
  }

  async #definition(): Promise<string> {
    const { mirror, migrations } = this.#options;
    return mirror.query((sqlite) => sinkDefinition(sqlite, migrations, this.#generation));
  }

  async #freshness(): Promise<string> {
    const { mirror, clock } = this.#options;
    return JSON.stringify(await freshnessRows(mirror.query, clock));
  }
}
