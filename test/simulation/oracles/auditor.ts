/** Holds the promises of the safety phase against what the mirror shows of an account, whenever it is asked to look (P2 to P7). */
import { parseInstant } from '../../../src/domain/clock.ts';
import { DeliveryMoments } from './delivery-moments.ts';
import { detailFields, detailOf, type EventLog } from './event-log.ts';
import type { Follower } from './follower.ts';
import type { DeliveryOracle } from './delivery-oracle.ts';
import type { Plan } from '../plan/plan.ts';
import type { Reader, WorldStore } from '../machine/world-store.ts';
import type { View } from '../machine/network.ts';
import { epoch } from '../machine/timeline.ts';
import { inconsistencies, type Known } from './consistency.ts';

export interface AuditorOptions {
  readonly account: string;
  readonly plan: Plan;
  readonly follower: Follower;
  readonly eventLog: EventLog;
  readonly view: View;
  readonly deliveryOracle: DeliveryOracle;
  readonly store: Pick<WorldStore, 'reader' | 'sealing'>;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  readonly broken: (promise: string, what: string) => void;
  readonly now: () => number;
  /** How wrong the machine's wall clock is, in milliseconds. */
  readonly wallError: () => number;
  /** Whether the program serves; if not, nothing keeps its file open. */
  readonly serves: () => boolean;
  /** Whether the process of that name is still there. */
  readonly lives: (process: string) => boolean;
}

type Part = 'mirror' | 'secrets';

export class Auditor {
  readonly #options: AuditorOptions;
  readonly #known: Known = new Map();
  readonly #received: DeliveryMoments;
  /** The last run before the wall clock was set. */
  #lastRunBeforeSet = 0;
  readonly #readers = new Map<Part, Reader>();
  /** Runs that nothing was carried out of any more when it looked last, and the numbers of pages that it knew. */
  readonly #ended = new Set<number>();
  readonly #pages = new Set<number>();
  /** A vendor with wrong details. */
  #wrong: number | undefined;

  constructor(options: AuditorOptions) {
    this.#options = options;
    this.#received = new DeliveryMoments(options);
  }

  look(): void {
    const { serves } = this.#options;
    const reader = this.#reader('mirror');
    if (!reader) return;
    try {
      reader.together(() => this.#inspect(reader));
    } finally {
      if (!serves()) this.close();
    }
  }

  /** The wall clock is about to be set: until a run that begins later is complete, `safe_as_of` is a moment of the clock before. */
  forgetMoments(): void {
    this.#lastRunBeforeSet = this.#options.follower.lastRun;
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
    this.#readers.clear();
  }

  /** Deliveries that are given up for now, by their numbers in the journal. */
  parked(): number[] {
    return this.#ask<{ id: number }>(
      'mirror',
      `SELECT id FROM deliveries d WHERE account_id = ? AND outcome = 'parked' AND NOT EXISTS (
         SELECT 1 FROM dirty_vendors m
         WHERE m.account_id = d.account_id AND m.vendorid = d.object_id AND m.due_at IS NOT NULL)`,
      this.#options.account,
    ).map(({ id }) => id);
  }

  /** Vendors that nothing shows, and that are not called absent because the token may see less. */
  withheld(): number {
    const { account } = this.#options;
    const sql = 'SELECT withheld_absences AS vendors FROM _accounts WHERE account_id = ?';
    return this.#ask<{ vendors: number }>('mirror', sql, account)[0]?.vendors ?? 0;
  }

  /** Vendors of which a run said that nothing could be decided. */
  undecided(): number {
    const { account } = this.#options;
    const sql = 'SELECT undecided AS vendors FROM freshness WHERE account_id = ?';
    return this.#ask<{ vendors: number }>('mirror', sql, account)[0]?.vendors ?? 0;
  }

  /** The number of the newest version of a vendor. */
  lastVersion(): number {
    const { account } = this.#options;
    const sql = 'SELECT max(seq) AS seq FROM vendor_versions WHERE account_id = ?';
    return this.#ask<{ seq: number | null }>('mirror', sql, account)[0]?.seq ?? 0;
  }

  /** Vendors that are to be read. */
  marked(): number[] {
    const { account } = this.#options;
    const sql = 'SELECT vendorid FROM dirty_vendors WHERE account_id = ?';
    return this.#ask<{ vendorid: number }>('mirror', sql, account).map(({ vendorid }) => vendorid);
  }

  /** Whether the callback was registered as often as a day allows. */
  registeredEnough(): boolean {
    const { account } = this.#options;
    return this.#ask('secrets', 'SELECT 1 FROM registrations WHERE account_id = ?', account).length >= 3;
  }

  /** Codes that the service has said are right. */
  provenCodes(): string[] {
    const { account, store } = this.#options;
    const sql = "SELECT verifier FROM verifiers WHERE account_id = ? AND state = 'proven'";
    return this.#ask<{ verifier: string }>('secrets', sql, account).map(({ verifier }) =>
      store.sealing.open('verifier', account, verifier),
    );
  }

  /** Whether a complete run claims to know all up to its beginning: what was read just before, it cannot contradict. */
  claimsAll(run: number): boolean {
    const [told] = this.#ask<{ began: string; safe: string }>(
      'mirror',
      'SELECT started_at AS began, safe_as_of AS safe FROM runs WHERE id = ?',
      run,
    );
    const [began = 0, safe = 0] = [told?.began, told?.safe].map((text) => parseInstant(text ?? ''));
    return safe >= began - this.#options.lag;
  }

  #inspect(reader: Reader): void {
    const { broken, follower, deliveryOracle } = this.#options;
    // A process that died before its first migration leaves nothing.
    if (reader.isEmpty && deliveryOracle.acknowledged.size === 0) return;
    this.#journal(reader);
    this.#orphaned(reader);
    this.#numbered(reader);
    follower.read(reader);
    this.#settled(reader);
    for (const inconsistency of inconsistencies(reader, this.#options.account, this.#known))
      broken('P5', inconsistency);
    this.#freshness(reader);
    this.#details(reader);
  }

  #ask<Row>(of: Part, sql: string, ...values: (string | number)[]): Row[] {
    try {
      const reader = this.#reader(of);
      if (!reader) throw new Error(`There is no ${of}.`);
      return reader.rows<Row>(sql, ...values);
    } finally {
      if (!this.#options.serves()) this.close();
    }
  }

  #reader(of: Part): Reader | undefined {
    const reader = this.#readers.get(of) ?? this.#options.store.reader(of);
    if (reader) this.#readers.set(of, reader);
    return reader;
  }

  /** P2: what was acknowledged is in the journal. P6: and nothing else. */
  #journal(reader: Reader): void {
    const { account, deliveryOracle, broken } = this.#options;
    const isOurs = (key: string): boolean => key.startsWith(`${account} `);
    const rows = reader.rows<{ key: string; count: number }>(
      `SELECT account_id || ' ' || name || ' ' || coalesce(CAST(object_id AS TEXT), '') AS key, count(*) AS count FROM deliveries
         WHERE account_id = ? GROUP BY 1`,
      account,
    );
    const journal = new Map(rows.map(({ key, count }) => [key, count]));
    for (const [key, count] of deliveryOracle.acknowledged)
      if (isOurs(key) && (journal.get(key) ?? 0) < count)
        broken('P2', `${count} deliveries “${key}” were acknowledged, and ${journal.get(key) ?? 0} are in the journal`);
    for (const [key, count] of journal)
      if ((deliveryOracle.arrived.get(key) ?? 0) < count)
        broken('P6', `more deliveries “${key}” are in the journal than were sent`);
  }

  /** P2: what waits for an answer has a mark that will have it answered. */
  #orphaned(reader: Reader): void {
    const { account, broken } = this.#options;
    const orphans = reader.rows<{ id: number }>(
      `SELECT id FROM deliveries d WHERE account_id = ? AND outcome = 'pending' AND NOT EXISTS (
         SELECT 1 FROM dirty_vendors m WHERE m.account_id = d.account_id AND m.vendorid = d.object_id)`,
      account,
    );
    for (const { id } of orphans) broken('P2', `delivery ${id} is pending, and nothing has it answered`);
  }

  /**
   * P3: a request takes its number when it begins, so what a run was shown bears no number from before the run.
   *
   * On a server, a run counts as abandoned when its process was silent for half a minute. One that only hung goes on with it, and may: its
   * numbers are true, and what it writes is ordered by them. So such a run is over when its process is.
   */
  #numbered(reader: Reader): void {
    const { account, broken, lives } = this.#options;
    const runs = reader.rows<{ id: number; began_seq: number; outcome: string; process: string | null }>(
      'SELECT id, began_seq, outcome, process FROM runs WHERE account_id = ?',
      account,
    );
    const pages = reader.rows<{ read_seq: number }>(
      'SELECT read_seq FROM _page_confirmations WHERE account_id = ?',
      account,
    );
    // Only these can have been shown anything since the look before.
    const began = runs.filter(({ id }) => !this.#ended.has(id)).map(({ began_seq }) => began_seq);
    for (const { read_seq } of pages)
      if (!this.#pages.has(read_seq) && read_seq <= Math.min(...began))
        broken('P3', `a page is numbered ${read_seq}, as if it had been asked for before the runs that it is of`);
    for (const { read_seq } of pages) this.#pages.add(read_seq);
    for (const { id, outcome, process } of runs)
      if (outcome !== 'running' && !(outcome === 'abandoned' && lives(process ?? ''))) this.#ended.add(id);
  }

  /** P2: a delivery is settled by a reading that began after it came. */
  #settled(reader: Reader): void {
    const { account, broken, follower, lag } = this.#options;
    this.#received.read(reader);
    const settled = reader.rows<{ vendorid: number; id: number }>(
      `SELECT object_id AS vendorid, max(id) AS id FROM deliveries
         WHERE account_id = ? AND outcome IN ('applied', 'unchanged')
         AND object_id NOT IN (SELECT vendorid FROM dirty_vendors WHERE account_id = ?) GROUP BY 1`,
      account,
      account,
    );
    for (const { vendorid, id } of settled) {
      const received = this.#received.of(id) ?? -Infinity;
      const gap = follower.gap(vendorid, received - lag);
      if (gap !== undefined) broken('P2', `delivery ${id} of ${received.toFixed(0)} is settled, and ${gap}`);
    }
  }

  /** A moment of the file, in milliseconds of the timeline. */
  #moment(text: string): number {
    return (parseInstant(text) ?? 0) - epoch - this.#options.wallError();
  }

  /** Whether a moment is within the last complete run. */
  #lastComplete(reader: Reader): (at: number) => boolean {
    const [run] = reader.rows<{ began: string; ended: string }>(
      `SELECT started_at AS began, finished_at AS ended FROM runs
         WHERE account_id = ? AND outcome = 'complete' ORDER BY id DESC LIMIT 1`,
      this.#options.account,
    );
    const [began = 0, ended = 0] = [run?.began, run?.ended].map((text) => this.#moment(text ?? ''));
    return (at) => at >= began && at <= ended;
  }

  /** Whether the last complete run was shown empty lists and no other: this cannot be told from an account that is empty. */
  #sawEmptyListsOnly(within: (at: number) => boolean): boolean {
    const { view, plan } = this.#options;
    // Where the page before the first is refused, it holds nothing.
    const first = plan.world.pageZero === 'first' ? 0 : 1;
    return view.emptied.some(within) && !view.lists.some(({ at, page }) => page >= first && within(at));
  }

  /** Whether the service counts too few, and no sweep has shown that yet: one that missed exactly as many cannot know. */
  #mayBeDeceived(reader: Reader): boolean {
    const { account, plan } = this.#options;
    if (plan.world.total !== 'fewer' && plan.world.total !== 'page') return false;
    return reader.rows('SELECT 1 FROM _accounts WHERE account_id = ? AND miscounted = 0', account).length > 0;
  }

  /** P7: what it claims to know, it knows. */
  #freshness(reader: Reader): void {
    const { account, broken, eventLog, follower, plan, view } = this.#options;
    const [since] = reader.rows<{ id: number }>(
      `SELECT id FROM runs WHERE account_id = ? AND id > ? AND outcome = 'complete' AND kind <> 'verify' LIMIT 1`,
      account,
      this.#lastRunBeforeSet,
    );
    if (!since) return;
    const [told] = reader.rows<{ safe_as_of: string | null }>(
      'SELECT safe_as_of FROM freshness WHERE account_id = ?',
      account,
    );
    const safe = told?.safe_as_of ?? '';
    if (safe === '') return;
    const within = this.#lastComplete(reader);
    if (this.#sawEmptyListsOnly(within) || this.#mayBeDeceived(reader)) return;
    // A vendor that a list did not show and that could not be read is a suspect in the file.
    const suspects = reader.rows<{ vendorid: number }>(
      `SELECT vendorid FROM vendors WHERE account_id = ? AND presence = 'suspect'`,
      account,
    );
    const moment = this.#moment(safe);
    // Nor can a list of archived vendors that came empty be told from one that is empty, where it alone shows them.
    const isArchivedUnknown = plan.world.listArchived === 'hidden' && view.emptiedArchived.some(within);
    const isArchived = (id: number): boolean => eventLog.of(id)[eventLog.at(id, moment)]?.state === 2;
    const archived = isArchivedUnknown ? eventLog.vendors.filter(isArchived) : [];
    for (const gap of follower.behind(moment, new Set([...suspects.map(({ vendorid }) => vendorid), ...archived])))
      broken('P7', `“safe as of ${safe}”, and ${gap}`);
  }

  /** P7: of what lists leave out or show otherwise, it knows what it claims to know. */
  #details(reader: Reader): void {
    const { account, broken, eventLog, plan } = this.#options;
    const [told] = reader.rows<{ details_as_of: string | null }>(
      'SELECT details_as_of FROM freshness WHERE account_id = ?',
      account,
    );
    const known = told?.details_as_of ?? '';
    // Moments of a clock that was set are those of a clock that was wrong.
    if (known === '' || known.startsWith('1970') || plan.jumps > 0) return;
    const since = this.#moment(known);
    const fields = reader
      .rows<{ field: string }>(learnedDetails, account)
      .map(({ field }) => field)
      .filter((field) => detailFields(plan.world).includes(field));
    for (const { vendorid, raw } of reader.rows<Recorded>(
      `SELECT vendorid, raw FROM vendors WHERE account_id = ? AND presence IN ('present', 'suspect')`,
      account,
    ))
      for (const field of fields) {
        const due = eventLog.detailsSince(vendorid, field, since);
        const json = detailOf(JSON.parse(raw) as Record<string, unknown>, field);
        if (due.has(json)) continue;
        broken('P7', `“details as of ${known}”, and ${vendorid}.${field} is ${json}, not ${[...due].join()}`);
      }
  }

  /** Fields that are not the service's, of vendors that can be read by id, in words; none where nobody could know. */
  wrongDetails(): string[] {
    return this.#wrongOf(0, Number.MAX_SAFE_INTEGER).map(({ words }) => words);
  }

  /** Whether there are any. To be asked often: it begins with the vendor that was wrong before, which mostly still is. */
  hasWrongDetails(): boolean {
    const before = this.#wrong;
    if (before !== undefined && this.#wrongOf(before, before).length > 0) return true;
    this.#wrong = this.#wrongOf(0, Number.MAX_SAFE_INTEGER)[0]?.vendorid;
    return this.#wrong !== undefined;
  }

  /** A balance that lists do not show moves without a trace, and may be as old as the last read of its vendor, which is known to the machine's clock. */
  #wrongOf(from: number, to: number): { readonly vendorid: number; readonly words: string }[] {
    const { account, eventLog, plan, now } = this.#options;
    if (plan.world.readOne !== 'yes') return [];
    const isReadable = (vendorid: number): boolean => {
      const state = eventLog.of(vendorid).at(-1)?.state;
      return state !== 'vanished' && (state !== 1 || plan.world.readDeleted === 'shown');
    };
    const learned = this.#ask<{ field: string }>('mirror', learnedDetails, account).map(({ field }) => field);
    return this.#ask<Recorded & { details_at: string | null }>(
      'mirror',
      `SELECT vendorid, raw, details_at FROM vendors
         WHERE account_id = ? AND vendorid BETWEEN ? AND ? AND presence = 'present' AND vis_state = 0`,
      account,
      from,
      to,
    ).flatMap(({ vendorid, raw, details_at }) => {
      if (!isReadable(vendorid)) return [];
      const read = plan.jumps > 0 ? 0 : this.#moment(details_at ?? '');
      return detailFields(plan.world).flatMap((field) => {
        const json = detailOf(JSON.parse(raw) as Record<string, unknown>, field);
        const isUnread = field === 'outstanding_balance' && learned.includes(field) && (details_at ?? '') > '1971';
        const due = eventLog.detailsSince(vendorid, field, isUnread ? read : now());
        const words = `${vendorid}.${field} is ${json}, and not ${[...due].join()}`;
        return due.has(json) ? [] : [{ vendorid, words }];
      });
    });
  }
}

const learnedDetails = 'SELECT field FROM _detail_fields WHERE account_id = ? AND learned_at IS NOT NULL';

interface Recorded {
  readonly vendorid: number;
  readonly raw: string;
}
