/**
 * The only code that changes a vendor row because of a reading. A reading is applied if it is newer than the stored version and, where it
 * differs, if that version is not too young to be contradicted.
 *
 * `raw` is the JSON as received; fields that an answer leaves out, and that an earlier answer had, are carried over.
 */
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import { inOrder } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import { isAbsent, nextPresence, type AbsenceEvidence } from '../domain/presence.ts';
import { acceptAccount, type ReadStamp, type Source, type VendorPage, type VendorRow } from '../domain/reading.ts';
import { kept, mergeReading, neededFields, withoutFields, type Vendor } from '../domain/vendor.ts';
import {
  acceptanceOf,
  forgottenVerdict,
  isEdited,
  rejectedVerdict,
  isStored,
  unacceptedVerdict,
  unchangedVerdict,
  type Acceptance,
  type Difference,
  type Verdict,
} from './acceptance.ts';
import { DetailRows } from './details.ts';
import type { Finding } from './findings.ts';
import { changeColumns, changedAt, History, type ChangeContext } from './history.ts';
import type { LaggingCopies } from './lagging-copies.ts';
import type { Marks } from './marks.ts';
import { contestedIds, PageConfirmations } from './page-confirmations.ts';
import type { ReadingCounter } from './reading-counter.ts';
import type { Run } from './runs.ts';

import type { VendorKey, VendorTable } from './sql/schema.ts';
import { isRecordError } from './sqlite/sqlite-errors.ts';
import { each, keyOf, type Connection } from './sql/statement.ts';
import type { UnsteadyFields } from './unsteady-fields.ts';
import {
  ChildRows,
  columnsOf,
  fieldsNotIn,
  ForgottenVendors,
  mergedRaw,
  presenceOf,
  rawWithout,
  repairedRaw,
  VendorRows,
} from './vendors.ts';

export class ReadingWriter {
  readonly #db: Connection;
  readonly #clock: Clock;
  readonly #counter: ReadingCounter;
  readonly #rows: VendorRows;
  readonly #childRows: ChildRows;
  readonly #history: History;
  readonly #forgotten: ForgottenVendors;
  /** Confirms pages that show what is stored. */
  readonly pages: PageConfirmations;
  readonly #copies: LaggingCopies;
  readonly #marks: Marks;
  readonly #details: DetailRows;
  readonly #unsteady: UnsteadyFields;

  constructor(
    db: Connection,
    clock: Clock,
    counter: ReadingCounter,
    { marks, copies, unsteady }: { marks: Marks; copies: LaggingCopies; unsteady: UnsteadyFields },
  ) {
    this.#copies = copies;
    this.#unsteady = unsteady;
    this.#marks = marks;
    this.#db = db;
    this.#clock = clock;
    this.#counter = counter;
    this.#rows = new VendorRows(db);
    this.#childRows = new ChildRows(db);
    this.#history = new History(db);
    this.#forgotten = new ForgottenVendors(db);
    this.pages = new PageConfirmations(db, this.#rows, this.#forgotten);
    this.#details = new DetailRows(db);
  }

  /**
   * Applies the rows of one page, except those with a verdict from `confirm`. Runs inside a transaction.
   * @param apart applies each row separately: an unusable one is rejected instead of throwing
   * @returns the verdicts on all rows.
   */
  async page(
    page: VendorPage,
    context: ReadingContext,
    known: ReadonlyMap<number, Verdict>,
    apart: boolean,
  ): Promise<ReadonlyMap<number, Verdict>> {
    const { rows, stamp } = page;
    const verdicts = new Map(known);
    const confirmed = [...known.keys()];
    const others = rows.map(({ vendorid }) => vendorid).filter((vendorid) => !known.has(vendorid));
    const [together, stored, forgotten, otherwise, details] = await Promise.all([
      apart ? undefined : this.#changeContextOf(context),
      this.#rows.among(context.accountId, others),
      this.#forgotten.among(context.accountId, others),
      this.#details.shownOtherwise(context.accountId),
      this.#details.fields(context.accountId),
    ]);
    if (context.isAccountAccepted !== true && (await this.#areOthers(rows, context.accountId, stored, known.size)))
      throw ofAnotherAccount(page);
    // Only a read by id can tell which of the two is true.
    const contested = context.readsById === false ? new Set<number>() : contestedIds(rows);
    const optional = otherwise.ofAll.filter((field) => !(neededFields as readonly string[]).includes(field));
    const apply = async (row: VendorRow): Promise<Verdict> => {
      const changeContext = together ?? (await this.#changeContextOf(context));
      const key = keyIn(context, row);
      const found = stored.has(row.vendorid) ? await this.#rows.lookUp(context.accountId, row) : undefined;
      if (found?.same && !contested.has(row.vendorid)) return unchangedVerdict(found);
      const before = found && (await this.#rows.find(key));
      if (contested.has(row.vendorid)) await this.#marks.add([key], 'guarded', 0);
      if (before && contested.has(row.vendorid)) return { kind: 'guarded', before, after: before, changed: [] };
      if (!before)
        return forgotten.has(row.vendorid)
          ? forgottenVerdict
          : await this.#create(key, rowWithout(row, optional), stamp, changeContext, apart);
      const believed = rowWithout(row, context.readsById === false ? otherwise.ofAll : otherwise.of(row.vendorid));
      const verdict = await this.#update(before, believed, stamp, context, true);
      if (verdict.kind === 'unchanged' && before.presence !== shown.presence)
        this.#rows.confirm(before, stamp.readSeq, shown);
      return verdict;
    };
    // Of two rows of one vendor the first counts.
    const firsts = new Map<number, VendorRow>();
    for (const row of rows) if (!known.has(row.vendorid) && !firsts.has(row.vendorid)) firsts.set(row.vendorid, row);
    const applied = apart
      ? await inOrder(firsts.values(), (row) => this.#byItself(row, apply))
      : await each(this.#db, [...firsts.values()], apply);
    for (const [index, vendorid] of [...firsts.keys()].entries()) {
      const verdict = applied[index];
      if (!verdict) continue;
      verdicts.set(vendorid, verdict);
      if (verdict.kind === 'unchanged') confirmed.push(vendorid);
    }
    const isNews = ({ vendorid }: VendorRow): boolean =>
      ['created', 'updated'].includes(verdicts.get(vendorid)?.kind ?? '');
    if (details.length > 0) await this.#details.listed(context.accountId, rows.filter(isNews), details);
    if (confirmed.length > known.size) this.pages.add(context.accountId, stamp.readSeq, confirmed);
    return verdicts;
  }

  /**
   * Whether most of the rows that have the number of a stored vendor show another one: a cache may answer with the page of another account. One
   * or two may be the same by chance, or because an answer of that account was applied before it was noticed.
   */
  async showsOthers(rows: readonly VendorRow[], accountId: string): Promise<boolean> {
    const ids = rows.map(({ vendorid }) => vendorid);
    return this.#areOthers(rows, accountId, await this.#rows.among(accountId, ids), 0);
  }

  /**
   * @param stored the numbers of stored vendors that are in question
   * @param themselves how many more are known to be shown as they are stored
   */
  async #areOthers(
    rows: readonly VendorRow[],
    accountId: string,
    stored: ReadonlySet<number>,
    themselves: number,
  ): Promise<boolean> {
    let others = 0;
    const left = [...new Map(rows.map((row) => [row.vendorid, row])).values()].filter((row) =>
      stored.has(row.vendorid),
    );
    while (left.length > 0 && others + left.length >= fewest && themselves < others + left.length) {
      // So many decide it if they are shown as themselves. They are asked for together: a server is far away.
      const some = left.splice(0, Math.ceil((others + left.length - themselves) / 2));
      const shown = await Promise.all(some.map((row) => this.#isOther(row, accountId)));
      others += shown.filter((isOther) => isOther).length;
      themselves += shown.filter((isOther) => !isOther).length;
    }
    return others >= fewest && others > themselves;
  }

  async #isOther(row: VendorRow, accountId: string): Promise<boolean> {
    const before = await this.#rows.find(keyIn({ accountId }, row));
    const said = parsed(row);
    return before !== undefined && said !== undefined && isOtherVendor(before, said);
  }

  /** Whether one of the rows shows a stored vendor as itself. */
  async showsStored(rows: readonly VendorRow[], accountId: string): Promise<boolean> {
    const ids = rows.map(({ vendorid }) => vendorid);
    if ((await this.#forgotten.among(accountId, ids)).size > 0) return true;
    const stored = await this.#rows.among(accountId, ids);
    for (const row of rows) {
      const before = stored.has(row.vendorid) ? await this.#rows.find(keyIn({ accountId }, row)) : undefined;
      if (!before) continue;
      const said = parsed(row);
      if (!said || !isOtherVendor(before, said)) return true;
    }
    return false;
  }

  /** What applying the rows would change if all were accepted. Writes nothing. */
  async compare(
    pageRows: readonly VendorRow[],
    accountId: string,
    isListed: boolean,
  ): Promise<ReadonlyMap<number, Verdict>> {
    // The few vendors that lists show otherwise differ: they are read by id, and compared again.
    const otherwise = isListed ? (await this.#details.shownOtherwise(accountId)).ofAll : [];
    const verdict = async (received: VendorRow): Promise<Verdict> => {
      const row = rowWithout(received, otherwise);
      const key = keyIn({ accountId }, row);
      const stored = await this.#rows.find(key);
      if (!stored)
        return (await this.#forgotten.has(key)) ? forgottenVerdict : { kind: 'created', vendor: row.vendor() };
      // Also where the record is the same: what stands in the columns may have been derived otherwise.
      const difference = await this.#differ(stored, row, [], true);
      return difference ? { kind: 'updated', ...difference } : unchangedVerdict(stored);
    };
    return new Map(await inOrder(pageRows, async (row) => [row.vendorid, await verdict(row)] as const));
  }

  /** Applies one record. Runs inside a transaction. */
  async record(row: VendorRow, stamp: ReadStamp, context: ReadingContext): Promise<Verdict> {
    const key = keyIn(context, row);
    const [stored, details, { of: shownOtherwise }] = await Promise.all([
      this.#rows.find(key),
      this.#details.fields(context.accountId),
      this.#details.shownOtherwise(context.accountId),
    ]);
    if (!stored && (await this.#forgotten.has(key))) return forgottenVerdict;
    const verdict = stored
      ? await this.#update(stored, row, stamp, context, false, [...details, ...shownOtherwise(row.vendorid)])
      : await this.#create(key, row, stamp, await this.#changeContextOf(context), true);
    if (stored && verdict.kind === 'unchanged') this.#rows.confirm(stored, stamp.readSeq, shown);
    if (isStored(verdict)) await this.#copies.settle(key, verdict.kind === 'unchanged', stamp);
    // The answer to a write need not be what a read by id shows.
    if (context.askedAt === undefined) return verdict;
    if (stored) await this.#details.learn(key, stored, row.raw, timestamp(this.#clock.now()));
    // An old copy may have answered.
    if (details.length > 0 && isStored(verdict))
      this.#details.read(key, stamp.readSeq, timestamp(context.askedAt - context.lag));
    return verdict;
  }

  /** A list shows these vendors; nothing of it was applied yet. */
  async showed({ rows }: VendorPage, accountId: string): Promise<void> {
    await this.#details.showed(accountId, rows);
  }

  /** Whether lists leave fields out that reads by id carry, and of which vendors alone they show some otherwise. */
  async lacking(accountId: string): Promise<{ lacksDetails: boolean; isOfFew: (vendorid: number) => boolean }> {
    const { ofAll, of } = await this.#details.shownOtherwise(accountId);
    const lacksDetails = (await this.#details.fields(accountId)).length > 0;
    return { lacksDetails, isOfFew: (vendorid) => of(vendorid).length > ofAll.length };
  }

  /** A list answered a doubt about a vendor whose reads by id fail: what lists leave out stays in doubt. */
  doubtDetails(key: VendorKey): void {
    this.#details.doubted(key);
  }

  /**
   * Applies the second proof of an absence: the vendor is `missing` or `gone`. A first proof concludes nothing, and changes nothing here.
   * Runs inside a transaction.
   * @param isApproved by a person: then it does not count for the breaker
   */
  async absence(
    vendorid: number,
    evidence: AbsenceEvidence,
    stamp: ReadStamp,
    context: ReadingContext,
    isApproved: boolean,
  ): Promise<Verdict> {
    const stored = await this.#rows.find({ account_id: context.accountId, vendorid });
    if (!stored) return { kind: 'unchanged', heldSince: 0, visState: null };
    const next = nextPresence(presenceOf(stored), evidence, context.lag);
    const { presence } = next;
    if (!isAbsent(presence)) return { kind: 'stale' };
    const since = isApproved || next.since === null ? 0 : next.since;
    if (presence === stored.presence) {
      this.#rows.confirm(stored, stamp.readSeq, { presence, since });
      return unchangedVerdict(stored);
    }
    const inferred = presence === 'missing' && stored.vis_state !== 1;
    const state = {
      vis_state: inferred ? 1 : stored.vis_state,
      vis_state_source: inferred ? 'inferred' : stored.vis_state_source,
      presence,
      presence_ms: since,
      raw: repairedRaw(stored.raw),
    } as const;
    const changed = inferred ? ['vis_state', 'presence'] : ['presence'];
    const difference: Difference = { before: stored, after: { ...state, updated_at: stored.updated_at }, changed };
    const acceptance = await this.#judge(stored, difference, stamp, context);
    if (acceptance !== 'accepted') return unacceptedVerdict(acceptance, difference);
    const changeContext = await this.#changeContextOf(context, stored);
    this.#rows.update({ ...stored, ...state, ...changeColumns(changeContext, stamp) });
    await this.#history.continue(
      keyOf(stored),
      stored.raw,
      { state, changed, vendor: await this.#childRows.vendorOf(stored) },
      changeContext,
    );
    return { kind: 'updated', ...difference };
  }

  /** The source and time of all changes by one reading. */
  async #changeContextOf(context: ReadingContext, stored?: Pick<VendorTable, 'changed_at'>): Promise<ChangeContext> {
    return {
      at: changedAt(this.#clock.now(), stored?.changed_at ?? ''),
      moment: await this.#counter.moment(),
      source: context.source,
      runId: context.runId,
      deliveryId: context.deliveryId,
    };
  }

  /** @param mayHaveRest whether the tables besides may hold something of it, because another program deleted its row */
  async #create(
    key: VendorKey,
    row: VendorRow,
    stamp: ReadStamp,
    changeContext: ChangeContext,
    mayHaveRest: boolean,
  ): Promise<Verdict> {
    const vendor = row.vendor();
    const state = {
      vis_state: kept(vendor.vis_state) ?? null,
      vis_state_source: 'reported',
      presence: 'present',
    } as const;
    const changed = changeColumns(changeContext, stamp);
    const begun = { presence_ms: null, first_seen_at: changed.changed_at, detail_seq: null, details_at: null };
    this.#rows.insert(Object.assign(columnsOf(vendor, row.raw), key, { ...state, ...changed, ...begun }));
    this.#childRows.replace(key, vendor, !mayHaveRest);
    await (mayHaveRest
      ? this.#history.beginAgain(key, row.raw, state, vendor, changeContext)
      : this.#history.begin(key, state, vendor, changeContext));
    return { kind: 'created', vendor };
  }

  /** How a record differs from the stored vendor; undefined where it does not. */
  async #differ(
    stored: VendorTable,
    row: VendorRow,
    details: readonly string[],
    isThorough = false,
  ): Promise<(Difference & { vendor: Vendor }) | undefined> {
    const absent = isAbsent(stored.presence);
    if (stored.raw === row.raw && !absent && !isThorough) return undefined;
    const before = withoutFields(await this.#childRows.vendorOf(stored), row.excluded);
    const merged = mergeReading(before, row.vendor());
    if (merged.changed.length === 0 && !absent) return undefined;
    const { vendor } = merged;
    const after = {
      vis_state: kept(vendor.vis_state) ?? null,
      presence: shown.presence,
      updated_at: kept(vendor.updated_at) ?? null,
    } as const;
    const unsteady = isEdited({ before: stored, after }) ? [] : await this.#unsteady.of(stored);
    const changed = merged.changed.filter((field) => !unsteady.includes(field));
    if (changed.length === 0 && !absent) return undefined;
    const changes = {
      changed: absent ? [...changed, 'presence'] : changed,
      filledIn: [...fieldsNotIn(stored.raw, changed), ...details.filter((field) => changed.includes(field))],
    };
    return { vendor, before: stored, after, ...changes, repeated: vendor.repeated };
  }

  async #update(
    stored: VendorTable,
    received: VendorRow,
    stamp: ReadStamp,
    context: ReadingContext,
    isListed: boolean,
    /** Fields that no list shows: a read by id contradicts none in them. */
    details: readonly string[] = [],
  ): Promise<Verdict> {
    const row = isListed ? await this.#steady(stored, received) : received;
    const difference = await this.#differ(stored, row, details);
    if (!difference) {
      if (!isListed && stored.raw !== row.raw && stamp.readSeq > stored.read_seq) await this.#refresh(stored, row);
      return unchangedVerdict(stored);
    }
    const { vendor, changed } = difference;
    const isProven = isListed || context.source === 'write' || context.isAccountAccepted === true;
    if (!isProven && isOtherVendor(stored, vendor)) return { kind: 'guarded', isOther: true, ...difference };
    const acceptance = await this.#judge(stored, difference, stamp, context);
    if (acceptance !== 'accepted') return unacceptedVerdict(acceptance, difference);
    const raw = mergedRaw(stored.raw, row.raw, row.excluded);
    const { updated_at } = difference.after;
    const copy =
      context.source !== 'write' &&
      !isAbsent(stored.presence) &&
      (await this.#copies.judge(stored, { updated_at, raw }, stamp, { ...context, isListed }));
    if (copy) {
      await this.#marks.add([stored], 'guarded', isListed && context.readsById !== false ? 0 : copy.left);
      return { kind: 'guarded', copyAge: copy.age, ...difference };
    }

    if (context.source !== 'write') await this.#unsteady.note(stored, difference, context.runId);
    const changeContext = await this.#changeContextOf(context, stored);
    const columns = columnsOf(vendor, raw);
    const reported = row.vendor().vis_state !== undefined;
    const state = {
      vis_state: columns.vis_state,
      vis_state_source: reported ? 'reported' : stored.vis_state_source,
      presence: shown.presence,
      presence_ms: shown.since,
      raw,
    } as const;
    this.#rows.update({ ...stored, ...columns, ...state, ...changeColumns(changeContext, stamp) });
    this.#childRows.replace(stored, vendor, false);
    await this.#history.continue(keyOf(stored), stored.raw, { state, changed, vendor }, changeContext);
    return { kind: 'updated', ...difference };
  }

  /**
   * Decides about a reading that differs from the stored vendor. One that contradicts a young version is not applied, because the service may
   * have answered from an old copy: the vendor is marked to be read again.
   */
  async #judge(
    stored: VendorTable,
    difference: Difference,
    { readSeq, begun }: ReadStamp,
    { source, lag }: Pick<ReadingContext, 'source' | 'lag'>,
  ): Promise<Acceptance> {
    const isOvertaken = readSeq <= stored.read_seq || (await this.pages.hasLater(stored, readSeq));
    const heldSince = stored.held_since_ms;
    const acceptance = acceptanceOf({ difference, isOvertaken, begun, heldSince, source, lag });
    // The answer to our own write is new information even where a reading overtook it.
    if (acceptance === 'stale' && source === 'write') await this.#marks.add([stored], 'retry', 0);
    if (acceptance === 'guarded')
      await this.#marks.add([stored], 'guarded', Math.max(0, heldSince + lag - (await this.#counter.moment())));
    return acceptance;
  }

  /** What a list says of a vendor that was not edited, without its unsteady fields. */
  async #steady(stored: VendorTable, row: VendorRow): Promise<VendorRow> {
    if (stored.raw === row.raw || isAbsent(stored.presence)) return row;
    const unsteady = await this.#unsteady.of(stored);
    if (unsteady.length === 0) return row;
    const said = row.vendor();
    const after = { ...stored, updated_at: kept(said.updated_at) ?? null };
    if (isEdited({ before: stored, after })) return row;
    return rowWithout(row, unsteady);
  }

  /** Stores what a read by id shows of unsteady fields, which is no change. */
  async #refresh(stored: VendorTable, row: VendorRow): Promise<void> {
    if ((await this.#unsteady.of(stored)).length === 0) return;
    const before = withoutFields(await this.#childRows.vendorOf(stored), row.excluded);
    const { vendor, changed } = mergeReading(before, row.vendor());
    if (changed.length === 0) return;
    this.#rows.update({ ...stored, ...columnsOf(vendor, mergedRaw(stored.raw, row.raw, row.excluded)) });
  }

  async #byItself(row: VendorRow, apply: (row: VendorRow) => Promise<Verdict>): Promise<Verdict> {
    try {
      return await this.#db.savepoint(() => apply(row));
    } catch (error) {
      if (!isRecordError(error)) throw error;
      return rejectedVerdict(row.vendorid, error);
    }
  }
}

/** The state of a vendor that a reading shows, whatever it was before. */
const shown = nextPresence({ presence: 'suspect', since: null }, { kind: 'shown' }, 0);

/** So many stored vendors must differ before a page is taken for that of another account. */
const fewest = 3;

function ofAnotherAccount({ page }: VendorPage): MirrorError {
  return new MirrorError(
    'answer_unreadable',
    `Page ${page} shows other vendors under the numbers of this account's: it may be of another account. Nothing of it was applied.`,
    { remedy: acceptAccount },
  );
}

/**
 * Whether a record is of another vendor than the stored one with its number. Neither is when a vendor was created edited, nor are all names
 * at once: only where both differ is it another.
 */
function isOtherVendor(before: Pick<VendorTable, 'vendor_name' | 'created_at'>, said: Vendor): boolean {
  return (
    isOther(before.vendor_name, kept(said.vendor_name), nameKey) &&
    isOther(before.created_at, kept(said.created_at), parseInstant)
  );
}

/** Whether two values are there and differ, by what `keyOf` makes of them. */
function isOther(before: string | null, now: string | null | undefined, keyOf: (text: string) => unknown): boolean {
  if (before === null || now == null) return false;
  return before !== now && (keyOf(before) ?? before) !== (keyOf(now) ?? now);
}

/** A name without what a service may tidy in all names at once: case, spaces, and forms of characters. */
const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase().replace(/\s+/g, '');

/** What a record says but for some fields. */
function rowWithout(row: VendorRow, fields: readonly string[]): VendorRow {
  if (fields.length === 0) return row;
  const { vendorid, excluded } = row;
  const vendor = (): Vendor => withoutFields(row.vendor(), new Set(fields));
  return { vendorid, raw: rawWithout(row.raw, fields), excluded, vendor };
}

/** The vendor; undefined where the record is none, which is told when it is applied. */
function parsed(row: VendorRow): Vendor | undefined {
  try {
    return row.vendor();
  } catch (error) {
    if (!isRecordError(error)) throw error;
    return undefined;
  }
}

const keyIn = (
  { accountId }: Pick<ReadingContext, 'accountId'>,
  { vendorid }: Pick<VendorRow, 'vendorid'>,
): VendorKey => ({
  account_id: accountId,
  vendorid,
});

/** The context of a reading when it is applied, and its results. */
export interface ReadingContext {
  readonly accountId: string;
  readonly source: Source;
  readonly runId: number | null;
  readonly deliveryId: number | null;
  /** How long, in milliseconds, the service may answer from an old copy. */
  readonly lag: number;
  /** Of a sweep: whether a vendor may be read by id. */
  readonly readsById?: boolean;
  /** Whether what the service shows is known to be of this account: a person said so, or it shows other vendors as they are stored. */
  readonly isAccountAccepted?: boolean | undefined;
  /** Of a read by id: when its request left, milliseconds since 1970. */
  readonly askedAt?: number;
  /** How much older than a reading, in milliseconds, the marks are that it answers; it answers none where this is left out. */
  readonly rest?: number;
}

/** Evidence that a change was announced. */
export interface Evidence {
  /** A delivery about the vendor waits for a reading. */
  readonly marked: boolean;
  /** When the newest delivery about the vendor came that no reading has confirmed; null where there is none. */
  readonly unanswered: string | null;
}

/** Decides whether a change that a sweep found is a finding. Pure, because it is called inside a transaction. */
export type ChangeClassifier = (vendorid: number, verdict: Verdict, evidence: Evidence) => Finding | undefined;

/** The context of a sweep: its run, and the classifier of its changes. */
export interface SweepContext extends ReadingContext {
  readonly run: Pick<Run, 'id'>;
  /** Whether a vendor may be read by id. */
  readonly readsById: boolean;
  /** Whether it is not known yet that lists leave nothing out which reads by id carry. */
  readonly mayLackDetails?: boolean;
  readonly changeClassifier: ChangeClassifier | undefined;
}

export type Verdicts = ReadonlyMap<number, Verdict>;
