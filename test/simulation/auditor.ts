/** Holds every promise of the safety phase against what the mirror file shows, whenever it is asked to look (P2 to P7). */
import { existsSync } from 'node:fs';
import Driver from 'better-sqlite3';
import { parseInstant } from '../../src/clock.ts';
import { account } from './names.ts';
import { contentKey, type Chronicle } from './chronicle.ts';
import type { Mailbox } from './mailbox.ts';
import type { Plan } from './plan.ts';
import { epoch, type Timeline } from './timeline.ts';
import { tears, type Known } from './whole.ts';

interface Version {
  readonly seq: number;
  readonly vendorid: number;
  readonly presence: string;
  readonly vis_state: number | null;
  readonly run_id: number | null;
  readonly raw: string;
}

/** What the mirror held of a vendor when it was last looked at. */
interface Held {
  /** The chapter of the chronicle that it shows, or that explains its absence. */
  readonly chapter: number;
  readonly absent: boolean;
  readonly deleted: boolean;
}

export interface AuditorOptions {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly chronicle: Chronicle;
  readonly mailbox: Mailbox;
  readonly database: string;
  readonly secrets: string;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  readonly broken: (promise: string, what: string) => void;
}

export class Auditor {
  readonly held = new Map<number, Held>();
  /** Vendors that were called absent. */
  absences = 0;
  readonly #options: AuditorOptions;
  readonly #runs = new Map<number, { began: number; absences: number }>();
  /** Runs whose absences a person has allowed begin after this one. */
  allowed = false;
  readonly #known: Known = new Map();
  #seq = 0;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /** The run that began last, as far as it was looked; 0 before the first. */
  get lastRun(): number {
    return Math.max(0, ...this.#runs.keys());
  }

  look(): void {
    if (!existsSync(this.#options.database)) return;
    const reader = new Driver(this.#options.database, { readonly: true });
    try {
      // A process that died before its first migration leaves an empty file.
      const tables = reader.prepare<[], number>(`SELECT count(*) FROM sqlite_master`).pluck().get();
      if (tables === 0 && this.#options.mailbox.acknowledged.size === 0) return;
      this.#journal(reader);
      this.#readings(reader);
      this.#settled(reader);
      for (const tear of tears(reader, this.#known)) this.#options.broken('P5', tear);
      this.#freshness(reader);
    } finally {
      reader.close();
    }
  }

  /** Vendors of which deliveries are given up for now. */
  parked(): number[] {
    return this.#ask(
      this.#options.database,
      `SELECT DISTINCT object_id FROM deliveries WHERE outcome = 'parked'
         AND object_id NOT IN (SELECT vendorid FROM dirty_vendors WHERE due_at IS NOT NULL)`,
    );
  }

  /** Whether the callback was registered as often as a day allows. */
  registeredEnough(): boolean {
    const [count = 0] = this.#ask(this.#options.secrets, 'SELECT count(*) FROM registrations');
    return count >= 3;
  }

  /** Vendors of which the mirror shows less than was true at a moment, in words; of the `doubtful` it claims nothing. */
  behind(moment: number, doubtful: ReadonlySet<number> = new Set()): string[] {
    return this.#options.chronicle.vendors.flatMap((vendorid) =>
      doubtful.has(vendorid) ? [] : (this.#gap(vendorid, moment) ?? []),
    );
  }

  /** What the mirror lacks of a vendor as it was at a moment, in words. */
  #gap(vendorid: number, moment: number): string | undefined {
    const { chronicle } = this.#options;
    const due = chronicle.at(vendorid, moment);
    const chapter = chronicle.of(vendorid)[due];
    if (!chapter) return undefined;
    const held = this.held.get(vendorid);
    const alive = chapter.state === 0 || chapter.state === 2;
    // Who was seen by nobody while they lived, and lives no more, is rightly not there.
    const ended = chronicle
      .of(vendorid)
      .findIndex(({ state }, index) => index > due && (state === 1 || state === 'vanished'));
    if (!held) return alive && ended < 0 ? `vendor ${vendorid} (${chapter.version}) is not in the mirror` : undefined;
    const shown = chronicle.of(vendorid)[held.chapter];
    // It may be again as it was before.
    const again = chronicle.of(vendorid).findLastIndex(({ key }) => key === shown?.key);
    if (held.chapter >= due || (!held.absent && again >= due)) return undefined;
    // What became of one that is no more, or was no more soon after, nobody may be able to tell.
    if ((!alive || ended >= 0) && (held.absent || held.deleted)) return undefined;
    return `vendor ${vendorid} shows ${shown?.version ?? '?'} (${String(shown?.state)}), not ${chapter.version} (${chapter.state}); it was ${this.#told(vendorid)}`;
  }

  #ask(file: string, sql: string): number[] {
    const reader = new Driver(file, { readonly: true });
    try {
      return reader.prepare<[], number>(sql).pluck().all();
    } finally {
      reader.close();
    }
  }

  /** A vendor's life, as `version (state) at moment`. */
  #told(vendorid: number): string {
    const { chronicle } = this.#options;
    return chronicle
      .of(vendorid)
      .map(({ version, state, at }) => `${version} (${state}) at ${at.toFixed(0)}`)
      .join(', ');
  }

  /** P2: what was acknowledged is in the journal. P6: and nothing else. */
  #journal(reader: Driver.Database): void {
    const { mailbox, broken } = this.#options;
    const rows = reader
      .prepare<[], { key: string; count: number }>(
        `SELECT name || ' ' || object_id AS key, count(*) AS count FROM deliveries GROUP BY 1`,
      )
      .all();
    const journal = new Map(rows.map(({ key, count }) => [key, count]));
    for (const [key, count] of mailbox.acknowledged)
      if ((journal.get(key) ?? 0) < count)
        broken('P2', `${count} deliveries “${key}” were acknowledged, and ${journal.get(key) ?? 0} are in the journal`);
    for (const [key, count] of journal)
      if ((mailbox.arrived.get(key) ?? 0) < count)
        broken('P6', `more deliveries “${key}” are in the journal than were sent`);
  }

  /** P2: a delivery is settled by a reading that began after it came. */
  #settled(reader: Driver.Database): void {
    const { plan, broken, lag } = this.#options;
    // A clock that was set tells nothing about moments.
    if (plan.jumps > 0) return;
    const settled = reader.prepare<[], { vendorid: number; at: string }>(
      `SELECT object_id AS vendorid, max(received_at) AS at FROM deliveries WHERE outcome IN ('applied', 'unchanged')
         AND object_id NOT IN (SELECT vendorid FROM dirty_vendors) GROUP BY 1`,
    );
    for (const { vendorid, at } of settled.all()) {
      const gap = this.#gap(vendorid, (parseInstant(at) ?? 0) - epoch - lag);
      if (gap !== undefined) broken('P2', `a delivery of ${at} is settled, and ${gap}`);
    }
  }

  #readings(reader: Driver.Database): void {
    const began = reader.prepare<[number], { id: number; started_at: string }>(
      'SELECT id, started_at FROM runs WHERE id > ?',
    );
    for (const { id, started_at } of began.all(this.lastRun))
      this.#runs.set(id, { began: (parseInstant(started_at) ?? 0) - epoch, absences: 0 });
    const versions = reader
      .prepare<[string, number], Version>(
        'SELECT seq, vendorid, presence, vis_state, run_id, raw FROM vendor_versions WHERE account_id = ? AND seq > ? ORDER BY seq',
      )
      .all(account, this.#seq);
    const { count = 0 } = reader.prepare<[], { count: number }>('SELECT count(*) AS count FROM vendors').get() ?? {};
    for (const version of versions) {
      this.#seq = version.seq;
      if (version.presence === 'present') this.#seen(version);
      else this.#absent(version, count);
    }
  }

  /** P3: never backwards, and nothing that never was. */
  #seen({ vendorid, raw, vis_state }: Version): void {
    const { chronicle, broken } = this.#options;
    const key = contentKey(JSON.parse(raw) as Record<string, unknown>);
    const chapters = chronicle.of(vendorid);
    const before = this.held.get(vendorid)?.chapter ?? 0;
    const chapter = chapters.findIndex((told, index) => index >= before && told.key === key);
    if (chapter < 0) {
      const older = chapters.findLastIndex((told) => told.key === key);
      if (older < 0) broken('P5', `vendor ${vendorid} shows what never was`);
      else
        broken(
          'P3',
          `vendor ${vendorid} went back from version ${chapters[before]?.version ?? 0} to ${chapters[older]?.version ?? 0}`,
        );
      return;
    }
    this.held.set(vendorid, { chapter, absent: false, deleted: vis_state === 1 });
  }

  /** P4: nobody who lives is called missing or gone, and never many at once. */
  #absent({ vendorid, run_id, presence }: Version, residents: number): void {
    const { chronicle, broken, lag, plan } = this.#options;
    this.absences += 1;
    const run = this.#runs.get(run_id ?? 0);
    const before = this.held.get(vendorid);
    const since = plan.jumps > 0 ? -Infinity : (run?.began ?? -Infinity) - lag;
    const chapters = chronicle.of(vendorid);
    const chapter = chapters.findIndex(({ state }, index) => {
      const ended = chapters[index + 1]?.at ?? Infinity;
      return index >= (before?.chapter ?? 0) && (state === 1 || state === 'vanished') && ended >= since;
    });
    if (chapter < 0) {
      broken('P4', `vendor ${vendorid} lives and was called ${presence}`);
      return;
    }
    this.held.set(vendorid, { chapter, absent: true, deleted: false });
    if (!run || before?.deleted === true || this.allowed) return;
    run.absences += 1;
    const limit = Math.max(plan.breaker, Math.floor(residents / 10));
    if (run.absences > limit) broken('P4', `one run called ${run.absences} vendors absent, and ${limit} are allowed`);
  }

  /** P7: what it claims to know, it knows. */
  #freshness(reader: Driver.Database): void {
    const { plan, broken } = this.#options;
    // A clock that was set tells nothing about moments.
    if (plan.jumps > 0) return;
    const safe = reader.prepare<[], string>('SELECT safe_as_of FROM freshness').pluck().get();
    const moment = parseInstant(safe ?? '');
    if (moment === undefined) return;
    // An account that seems to be empty, nobody can tell from one that is.
    const seen = reader
      .prepare<[], number>(`SELECT seen FROM runs WHERE outcome = 'complete' ORDER BY id DESC LIMIT 1`)
      .pluck();
    const active = reader.prepare<[], number>('SELECT count(*) FROM active_vendors').pluck();
    if (seen.get() === 0 || active.get() === 0) return;
    // Whom a list did not show and nobody could ask after, the file itself calls suspect.
    const suspects = reader.prepare<[], number>(`SELECT vendorid FROM vendors WHERE presence = 'suspect'`).pluck();
    for (const gap of this.behind(moment - epoch, new Set(suspects.all())))
      broken('P7', `“safe as of ${safe ?? ''}”, and ${gap}`);
  }
}
