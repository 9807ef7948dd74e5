/** Follows what the mirror shows of each vendor, from look to look: never backwards (P3), and absent only after two proofs (P4). */
import { parseInstant } from '../../../src/domain/clock.ts';
import { contentKey, detailFields, detailOf, type LogEntry, type EventLog } from './event-log.ts';
import { honoursStateFilter, type Plan } from '../plan/plan.ts';
import type { Reader } from '../machine/world-store.ts';
import type { View } from '../machine/network.ts';
import { epoch } from '../machine/timeline.ts';

/** How long absences count together, in milliseconds. */
const day = 24 * 3_600_000;

interface Version {
  readonly seq: number;
  readonly vendorid: number;
  readonly presence: string;
  readonly vis_state: number | null;
  readonly run_id: number | null;
  readonly raw: string;
}

/** What the mirror held of a vendor when it was last looked at. */
interface Stored {
  /** The entry of the event log that it shows, or that explains its absence. */
  readonly entry: number;
  readonly absent: boolean;
  /** It is in a state in which nothing may show what becomes of it. */
  readonly hidden: boolean;
}

/** A run, and from when on it looked. */
interface FollowedRun {
  readonly began: number;
}

export interface FollowerOptions {
  readonly account: string;
  readonly plan: Plan;
  readonly eventLog: EventLog;
  readonly view: View;
  /** How wrong the machine's wall clock is, in milliseconds. */
  readonly wallError: () => number;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  readonly broken: (promise: string, what: string) => void;
  readonly now: () => number;
}

export class Follower {
  readonly stored = new Map<number, Stored>();
  /** Vendors that were called absent. */
  absences = 0;
  /** Runs whose absences a person has allowed begin after this one. */
  allowed = false;
  readonly #options: FollowerOptions;
  readonly #runs = new Map<number, FollowedRun>();
  /** Who was called absent without a person's word and has not come back, and when the run began that said so. */
  readonly #lost = new Map<number, number>();
  /** Fields that the mirror took for such as lists show otherwise than reads by id do, now or before. */
  readonly #otherwise = new Set<string>();
  #seq = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The run that began last, as far as it was looked; 0 before the first. */
  get lastRun(): number {
    return Math.max(0, ...this.#runs.keys());
  }

  /** Reads on in the history of the file. */
  read(reader: Reader): void {
    const { account } = this.#options;
    const began = reader.rows<{ id: number; started_at: string }>(
      'SELECT id, started_at FROM runs WHERE account_id = ? AND id > ?',
      account,
      this.lastRun,
    );
    for (const { id, started_at } of began)
      this.#runs.set(id, { began: (parseInstant(started_at) ?? 0) - epoch - this.#options.wallError() });
    const versions = reader.rows<Version>(
      'SELECT seq, vendorid, presence, vis_state, run_id, raw FROM vendor_versions WHERE account_id = ? AND seq > ? ORDER BY seq',
      account,
      this.#seq,
    );
    const [present] = reader.rows<{ count: number }>(
      `SELECT count(*) AS count FROM vendors WHERE account_id = ? AND presence IN ('present', 'suspect')`,
      account,
    );
    for (const { field } of reader.rows<{ field: string }>(
      'SELECT field FROM _detail_fields WHERE account_id = ? AND learned_at IS NOT NULL AND is_shown = 1',
      account,
    ))
      this.#otherwise.add(field);
    // Those that are absent by now were present when the run began that says so; those that were absent before it are none of its base.
    const fresh = versions.filter(({ presence }) => presence !== 'present').length;
    const base = (present?.count ?? 0) + fresh;
    for (const version of versions) {
      this.#seq = version.seq;
      if (version.presence === 'present') this.#seen(version);
      else this.#absent(version, base);
    }
  }

  /** Vendors that the mirror holds as present and that a read by id would show now. */
  get findable(): readonly number[] {
    const { eventLog, plan } = this.#options;
    return [...this.stored].flatMap(([vendorid, { absent }]) => {
      const state = eventLog.of(vendorid).at(-1)?.state;
      const isFound = state !== 'vanished' && (state !== 1 || plan.world.readDeleted === 'shown');
      return isFound && !absent ? [vendorid] : [];
    });
  }

  /**
   * Vendors of which nobody can know what became of them, although `safe_as_of` must say since when: deleted or archived ones, where a read by id
   * finds none of those that the mirror holds. The service answers then as one that reads no vendor by id, and lists need not show such states:
   * three vendors that they show of one are what teaches that.
   */
  get unknowable(): ReadonlySet<number> {
    if (this.findable.length > 0) return new Set();
    const { eventLog } = this.#options;
    const isHeld = ([vendorid, { entry, absent }]: [number, Stored]): boolean =>
      !absent && eventLog.of(vendorid)[entry]?.state !== 0;
    return new Set([...this.stored].filter(isHeld).map(([vendorid]) => vendorid));
  }

  /** Vendors of which the mirror shows less than was true at a moment, in words; of the `doubtful` it claims nothing. */
  behind(moment: number, doubtful: ReadonlySet<number> = new Set()): string[] {
    return this.#options.eventLog.vendors.flatMap((vendorid) =>
      doubtful.has(vendorid) ? [] : (this.gap(vendorid, moment) ?? []),
    );
  }

  /** What the mirror lacks of a vendor as it was at a moment, in words. */
  gap(vendorid: number, moment: number): string | undefined {
    const { eventLog } = this.#options;
    const due = eventLog.at(vendorid, moment);
    const entry = eventLog.of(vendorid)[due];
    if (!entry) return undefined;
    const stored = this.stored.get(vendorid);
    const isListed = (state: LogEntry['state']): boolean => !isEnd(state) && !(state === 2 && this.#hidesArchived);
    const alive = isListed(entry.state);
    // A vendor that was never seen while lists showed it, and that no list shows any longer, is rightly not there.
    const ended = eventLog.of(vendorid).findIndex(({ state }, index) => index > due && !isListed(state));
    if (!stored) return alive && ended < 0 ? `vendor ${vendorid} (${entry.version}) is not in the mirror` : undefined;
    const shown = eventLog.of(vendorid)[stored.entry];
    // It may be again as it was before.
    const again = eventLog.of(vendorid).findLastIndex(({ key }) => key === shown?.key);
    if (stored.entry >= due || (!stored.absent && again >= due)) return undefined;
    // What happened to a vendor that is gone, or was gone soon after, may be unknowable.
    if ((!alive || ended >= 0) && (stored.absent || stored.hidden)) return undefined;
    return `vendor ${vendorid} shows ${shown?.version ?? '?'} (${String(shown?.state)}), not ${entry.version} (${entry.state}); it was ${this.#told(vendorid)}`;
  }

  /** A vendor's life, as `version (state) at moment`. */
  #told(vendorid: number): string {
    const { eventLog } = this.#options;
    return eventLog
      .of(vendorid)
      .map(({ version, state, at }) => `${version} (${state}) at ${at.toFixed(0)}`)
      .join(', ');
  }

  /** P3: never backwards, and nothing that never was. */
  #seen({ vendorid, raw, vis_state }: Version): void {
    const { eventLog, broken } = this.#options;
    const key = contentKey(JSON.parse(raw) as Record<string, unknown>, detailFields(this.#options.plan.world));
    const entries = eventLog.of(vendorid);
    const before = this.stored.get(vendorid)?.entry ?? 0;
    const same = entries.findIndex((told, index) => index >= before && told.key === key);
    const entry = same < 0 ? this.#mixed(vendorid, key, before) : same;
    if (entry < 0) {
      const older = entries.findLastIndex((told) => told.key === key);
      if (older < 0) broken('P5', `vendor ${vendorid} shows what never was`);
      else
        broken(
          'P3',
          `vendor ${vendorid} went back from version ${entries[before]?.version ?? 0} to ${entries[older]?.version ?? 0}`,
        );
      return;
    }
    this.#lost.delete(vendorid);
    // Nor need a list show a vendor whose state cannot be read.
    const hidden = vis_state === 1 || (vis_state !== 0 && (this.#hidesArchived || !this.#readsById));
    this.stored.set(vendorid, { entry, absent: false, hidden });
  }

  /**
   * Where balances move faster than lists and reads by id follow each other, the mirror may take them for a field that lists show otherwise, until
   * a list shows one as it is stored. Meanwhile a record has them as a read by id showed them, or not at all, and all else as it was at another
   * moment.
   * @returns the last entry of which that is so, from `before` on; -1 where there is none
   */
  #mixed(vendorid: number, key: string, before: number): number {
    const { eventLog, plan } = this.#options;
    const fields = [...this.#otherwise].filter((field) => !detailFields(plan.world).includes(field));
    const shown = JSON.parse(key) as Record<string, unknown>;
    const records = eventLog.records(vendorid).flatMap(({ json }) => (json === '' ? [] : [JSON.parse(json) as object]));
    const wasSo = (field: string): boolean =>
      !Object.hasOwn(shown, field) ||
      records.some((record) => detailOf({ ...record }, field) === detailOf(shown, field));
    if (fields.length === 0 || !fields.every(wasSo)) return -1;
    const rest = contentKey(shown, fields);
    return eventLog
      .of(vendorid)
      .findLastIndex(
        (told, index) =>
          index >= before &&
          told.key !== undefined &&
          contentKey(JSON.parse(told.key) as object as typeof shown, fields) === rest,
      );
  }

  /** Whether no list shows archived vendors, not even one of theirs alone. */
  get #hidesArchived(): boolean {
    const { world, extraWalks } = this.#options.plan;
    const isFiltered = honoursStateFilter(this.#options.plan) && !['state', 'all'].includes(world.refuses);
    return world.listArchived === 'hidden' && (!isFiltered || extraWalks === 'never');
  }

  get #readsById(): boolean {
    return this.#options.plan.world.readOne === 'yes';
  }

  /** P4: no existing vendor is called missing or gone, and never many in a day. */
  #absent({ vendorid, run_id, presence }: Version, base: number): void {
    const { eventLog, broken, lag, plan } = this.#options;
    this.absences += 1;
    const run = this.#runs.get(run_id ?? 0);
    const before = this.stored.get(vendorid);
    const since = (run?.began ?? -Infinity) - lag;
    const entries = eventLog.of(vendorid);
    const entry = entries.findIndex(({ state }, index) => {
      const ended = entries[index + 1]?.at ?? Infinity;
      return index >= (before?.entry ?? 0) && this.#mayBe(presence, state) && ended >= since;
    });
    // Who came back between two looks and ended again was unseen by both.
    const end = entries.find(({ state }, index) => index >= (before?.entry ?? 0) && this.#mayBe(presence, state));
    if (entry < 0 || !end) {
      broken('P4', `vendor ${vendorid} lives and was called ${presence}`);
      return;
    }
    if (!run) broken('P4', `vendor ${vendorid} was called ${presence}, and no list was looked at`);
    if (!this.#isProven(vendorid, presence, end.at))
      broken('P4', `vendor ${vendorid} was called ${presence} after one look at the list`);
    this.stored.set(vendorid, { entry, absent: true, hidden: false });
    // A vendor that was missing and is gone now was absent before: no vendor is lost by that.
    if (!run || before?.absent === true || this.allowed) return;
    // The account that comes last is looked at in calm up to a day after the first.
    for (const [lost, began] of this.#lost) if (began < this.#options.now() - day) this.#lost.delete(lost);
    this.#lost.set(vendorid, run.began);
    // Those that were lost before were present when the day began.
    const limit = Math.max(3, Math.min(plan.breaker, Math.floor((base + this.#lost.size) / 10)));
    if (this.#lost.size > limit)
      broken('P4', `${this.#lost.size} vendors were called absent within a day, and ${limit} are allowed`);
  }

  /** Whether a state may be called so: a deleted vendor that the service shows by its number is not gone. */
  #mayBe(presence: string, state: LogEntry['state']): boolean {
    // Without reads by id, an active vendor that is archived where no list shows that cannot be told from one that is deleted.
    if (state === 2) return presence === 'missing' && this.#hidesArchived && !this.#readsById;
    const isShown = presence === 'gone' && this.#options.plan.world.readDeleted === 'shown';
    return isShown ? state === 'vanished' : isEnd(state);
  }

  /** Whether the service was asked a second time after the end, `sync.lag` later: by number, or by a list that was begun then. */
  #isProven(vendorid: number, presence: string, end: number): boolean {
    const { lag, view } = this.#options;
    const asked = (view.asked.get(vendorid) ?? []).filter((at) => at >= end);
    const lists = view.lists.filter(({ at }) => at >= end);
    const first = Math.min(...asked.slice(0, 1), ...lists.slice(0, 1).map(({ at }) => at));
    return presence === 'gone'
      ? asked.some((at) => at >= first + lag)
      : lists.some(({ at, page }) => page <= 1 && at >= first + lag);
  }
}

function isEnd(state: LogEntry['state']): boolean {
  return state === 1 || state === 'vanished';
}
