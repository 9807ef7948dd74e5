/** History: a version for each content change, and the time spans of balances, of which `owed` and `owed_by_day` are the sums. */
import { sql } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import { currencyDigits, decimalAmount, isSameMinor, minorUnits } from '../domain/amounts.ts';
import type { ReadStamp, Source } from '../domain/reading.ts';
import { isAbsent } from '../domain/presence.ts';
import { balanceFields, kept, stateWord, Unreadable, type Balance, type Vendor } from '../domain/vendor.ts';
import { feedEpochs } from './reports/feed-cursor.ts';
import { expiringBy } from './retention.ts';
import type { BalanceSpanTable, VendorKey, VendorTable, VersionRowTable } from './sql/schema.ts';
import { Operations, columns, mirrorSql, ofVendor, statement } from './sql/statement.ts';

/** The source and time of a change. */
interface Cause {
  /** Timestamp of ours. */
  readonly at: string;
  readonly source: Source;
  readonly runId: number | null;
  readonly deliveryId: number | null;
}

export type VersionState = Pick<VendorTable, 'vis_state' | 'vis_state_source' | 'presence'>;

/** The new version of a vendor: state, names of changed fields, and the whole vendor. */
export interface NextVersion {
  readonly state: VersionState;
  readonly changed: readonly string[];
  readonly vendor: Vendor;
}

/** The columns of a span that is open. */
const spanColumns = [
  'account_id',
  'vendorid',
  'code',
  'valid_from',
  'outstanding',
  'outstanding_minor',
  'overdue',
  'overdue_minor',
  'outstanding_amount',
  'overdue_amount',
  'outstanding_units',
  'overdue_units',
  'minor_digits',
  'state',
] as const satisfies (keyof BalanceSpanTable)[];

export class History extends Operations {
  readonly #addVersion = statement<Omit<VersionRowTable, 'seq' | 'valid_to' | 'raw'>>(this.db, (at) =>
    mirrorSql.insertInto('_vendor_versions').values({
      account_id: at('account_id'),
      vendorid: at('vendorid'),
      valid_from: at('valid_from'),
      valid_to: null,
      vis_state: at('vis_state'),
      vis_state_source: at('vis_state_source'),
      presence: at('presence'),
      changed_fields: at('changed_fields'),
      source: at('source'),
      run_id: at('run_id'),
      delivery_id: at('delivery_id'),
      raw: null,
    }),
  );
  readonly #endVersion = statement<VendorKey & { at: string; raw: string }>(this.db, (at) =>
    ofVendor(
      mirrorSql.updateTable('_vendor_versions').set({ valid_to: at('at'), raw: sql`coalesce(raw, ${at('raw')})` }),
      at,
    ).where('valid_to', 'is', null),
  );
  readonly #addSpan = statement<Omit<BalanceSpanTable, 'valid_to'>>(this.db, (at) =>
    mirrorSql.insertInto('_balance_spans').values({ ...columns(at, spanColumns), valid_to: null }),
  );
  readonly #openSpans = statement<VendorKey, BalanceSpanTable>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('_balance_spans').select([...spanColumns, 'valid_to']), at).where(
      'valid_to',
      'is',
      null,
    ),
  );
  readonly #endSpan = statement<VendorKey & { code: string; at: string }>(this.db, (at) =>
    ofVendor(mirrorSql.updateTable('_balance_spans').set({ valid_to: at('at') }), at)
      .where('code', '=', at('code'))
      .where('valid_to', 'is', null),
  );
  readonly #beginEpoch = feedEpochs(this.db);
  /** The last cause; each transaction or savepoint has its own, and needs its epoch to be checked. */
  #cause: Cause | undefined;
  #begun: Promise<void> | undefined;

  async begin(key: VendorKey, state: VersionState, vendor: Vendor, cause: Cause): Promise<void> {
    await this.#addVersionOf(key, state, [], cause);
    for (const span of spansOf(vendor, owedState(state))) this.#addSpanOf(key, span, cause);
  }

  /** The same, where another program may have deleted the vendor's row alone: what is left of its history ends, with `raw` as its record. */
  async beginAgain(key: VendorKey, raw: string, state: VersionState, vendor: Vendor, cause: Cause): Promise<void> {
    this.#endVersion.send({ ...key, at: cause.at, raw });
    for (const { code } of await this.#openSpans.all(key)) this.#endSpan.send({ ...key, code, at: cause.at });
    await this.begin(key, state, vendor, cause);
  }

  /** Ends the current version, whose record was `endedRaw`, and adds the next. */
  async continue(
    key: VendorKey,
    endedRaw: string,
    { state, changed, vendor }: NextVersion,
    cause: Cause,
  ): Promise<void> {
    this.#endVersion.send({ ...key, at: cause.at, raw: endedRaw });
    await this.#addVersionOf(key, state, changed, cause);
    if (spanFields.some((field) => changed.includes(field))) await this.continueSpans(key, state, vendor, cause);
  }

  /** Ends the spans that no longer hold, and begins those that do. */
  async continueSpans(key: VendorKey, state: VersionState, vendor: Vendor, cause: Cause): Promise<void> {
    const { ended, begun } = await this.#spanChanges(key, state, vendor);
    for (const { code } of ended) this.#endSpan.send({ ...key, code, at: cause.at });
    for (const span of begun) this.#addSpanOf(key, span, cause);
  }

  /** Whether the open spans of a vendor are those of its balances and its state. */
  async hasSpansOf(key: VendorKey, state: VersionState, vendor: Vendor): Promise<boolean> {
    const { ended, begun } = await this.#spanChanges(key, state, vendor);
    return ended.length + begun.length === 0;
  }

  async #spanChanges(key: VendorKey, state: VersionState, vendor: Vendor): Promise<{ ended: Span[]; begun: Span[] }> {
    const open = await this.#openSpans.all(key);
    const now = spansOf(vendor, owedState(state));
    return {
      ended: open.filter((old) => !now.some((span) => isSame(old, span))),
      begun: now.filter((span) => !open.some((old) => isSame(old, span))),
    };
  }

  #addSpanOf({ account_id, vendorid }: VendorKey, span: Span, { at }: Cause): void {
    this.#addSpan.send(Object.assign(span, { account_id, vendorid, valid_from: at }));
  }

  async #addVersionOf(key: VendorKey, state: VersionState, changed: readonly string[], cause: Cause): Promise<void> {
    if (cause !== this.#cause) [this.#cause, this.#begun] = [cause, this.#beginEpoch()];
    await this.#begun;
    this.#addVersion.send({
      account_id: key.account_id,
      vendorid: key.vendorid,
      vis_state: state.vis_state,
      vis_state_source: state.vis_state_source,
      presence: state.presence,
      valid_from: cause.at,
      changed_fields: JSON.stringify(changed),
      source: cause.source,
      run_id: cause.runId,
      delivery_id: cause.deliveryId,
    });
  }
}

/** What ends a span. A change of state does too: so what was owed, and to vendors of which state, stays as it was on each day. */
const spanFields: readonly string[] = [...balanceFields, 'vis_state', 'presence'];

/** The state of a vendor as `owed` names it; null while it is absent. */
function owedState({ vis_state, presence }: VersionState): BalanceSpanTable['state'] {
  return isAbsent(presence) ? null : stateWord(vis_state);
}

type Span = Omit<BalanceSpanTable, 'account_id' | 'vendorid' | 'valid_from' | 'valid_to'>;

/** The columns of a span that readers of the mirror see. */
const shownColumns = [
  'code',
  'outstanding',
  'outstanding_amount',
  'overdue',
  'overdue_amount',
  'minor_digits',
  'state',
] as const satisfies (keyof Span)[];

function isSame(left: Span, right: Span): boolean {
  return (
    shownColumns.every((column) => left[column] === right[column]) &&
    isSameMinor(left.outstanding_units, right.outstanding_units) &&
    isSameMinor(left.overdue_units, right.overdue_units)
  );
}

function spansOf(vendor: Vendor, state: Span['state']): Span[] {
  const spans = new Map<string, Span>();
  const spanOf = (balance: Balance): Span => {
    const span = spans.get(balance.code) ?? { ...noAmounts(balance, vendor), state };
    spans.set(balance.code, span);
    return span;
  };
  for (const balance of kept(vendor.outstanding_balance) ?? []) {
    const span = spanOf(balance);
    span.outstanding = balance.amount;
    span.outstanding_minor = span.outstanding_units = minorUnits(balance);
    span.outstanding_amount = decimalAmount(balance);
  }
  for (const balance of kept(vendor.overdue_balance) ?? []) {
    const span = spanOf(balance);
    span.overdue = balance.amount;
    span.overdue_minor = span.overdue_units = minorUnits(balance);
    span.overdue_amount = decimalAmount(balance);
  }
  return [...spans.values()];
}

/** Without an amount, nothing is owed; where the field could not be read, nobody knows. */
function noAmounts({ code }: Balance, { outstanding_balance, overdue_balance }: Vendor): Omit<Span, 'state'> {
  const outstanding = outstanding_balance instanceof Unreadable ? null : 0;
  const overdue = overdue_balance instanceof Unreadable ? null : 0;
  return {
    code,
    outstanding: null,
    outstanding_minor: null,
    overdue: null,
    overdue_minor: null,
    outstanding_amount: outstanding,
    overdue_amount: overdue,
    outstanding_units: outstanding,
    overdue_units: overdue,
    minor_digits: currencyDigits(code),
  };
}

/** When a change is made: no earlier than the one before (`changed_at`), though the clock was set back since. */
export function changedAt(now: number, before: string): string {
  const at = timestamp(now);
  return at > before ? at : before;
}

/** Source and time of changes; `moment` is mirror time. */
export interface ChangeContext extends Cause {
  readonly moment: number;
}

/** The columns of a change besides the content. */
export function changeColumns(
  { at, moment, source }: ChangeContext,
  { readSeq }: ReadStamp,
): Pick<VendorTable, 'changed_at' | 'source' | 'read_seq' | 'held_since_ms'> {
  return { changed_at: at, source, read_seq: readSeq, held_since_ms: moment };
}

/** Only ended ones. */
export const expiringVersions = expiringBy(sql`_vendor_versions`, sql`seq`, sql`valid_to`);
