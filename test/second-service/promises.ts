/** What the mirror must be beside the second service, judged by the service's records by id and their history, never by its list. */

import type { RunReport } from '../../src/sync/run.ts';
import type { Beside } from './beside.ts';
import { type Money, textFields, type Vendor } from './service/records.ts';
import { fieldsOnlyById, type Shown } from './service/rendering.ts';

/** A service, and a mirror of it. */
type Mirrored = Pick<Beside, 'service' | 'query'>;

interface MirrorRow extends Readonly<Record<string, unknown>> {
  readonly vendorid: number;
  readonly presence: 'present' | 'suspect' | 'missing' | 'gone';
  readonly vis_state: number | null;
}

interface Mirror {
  readonly rows: ReadonlyMap<number, MirrorRow>;
  readonly balances: ReadonlyMap<number, readonly string[]>;
  readonly taxes: ReadonlyMap<number, readonly string[]>;
}

/** What holds at the end of each run, also while there are faults. */
export function brokenByRun({ run, outcome }: RunReport, at: Beside): string[] {
  const { service } = at;
  const rows = new Map(read(at).rows);
  const broken = [...rows.values()]
    .filter(
      ({ presence, vendorid }) => presence === 'gone' && service.choices.read === 'yes' && shownById(at, vendorid),
    )
    .map(({ vendorid }) => `${vendorid} is gone, though a read by id shows it`);
  if (outcome !== 'complete') return broken;
  const [row] = at.query<{ started_at: string }>('SELECT started_at FROM runs WHERE id = ?', run.id);
  const since = Date.parse(`${row!.started_at.replace(' ', 'T')}Z`) - at.lag;
  const restless = new Set(service.records.history.filter((change) => change.at >= since).map(({ id }) => id));
  for (const vendor of service.records.all()) {
    if (restless.has(vendor.id) || !service.listing.shows(vendor) || service.listing.unreadable(vendor)) continue;
    if (rows.get(vendor.id)?.presence !== 'present')
      broken.push(`${vendor.id} is listed and not in the mirror after a complete run`);
  }
  return broken;
}

/** What differs when all is quiet and the last run was complete. */
export function differences(at: Mirrored): string[] {
  const { service } = at;
  const mirror = read(at);
  const found: string[] = [];
  for (const vendor of service.records.all()) {
    const row = mirror.rows.get(vendor.id);
    const listed = service.listing.shows(vendor);
    const shown = shownById(at, vendor.id);
    if (row === undefined) {
      if (listed) found.push(`${vendor.id} is not in the mirror`);
    } else if (listed) {
      if (row.presence !== 'present') found.push(`${vendor.id} is ${row.presence}, though it is listed`);
      found.push(...fieldsThatDiffer(at, mirror, vendor));
    } else if (shown && service.choices.read === 'yes') {
      if (row.presence === 'gone') found.push(`${vendor.id} is gone, though a read by id shows it`);
      found.push(...fieldsThatDiffer(at, mirror, vendor));
    } else if (isActive(at, row) && row.vis_state !== vendor.visState) {
      // A list of one state may have shown it all the same.
      found.push(`${vendor.id} is active here, and neither listed nor read there`);
    }
  }
  for (const row of mirror.rows.values())
    if (service.records.get(row.vendorid) === undefined && isActive(at, row))
      found.push(`${row.vendorid} was erased, and is active here`);
  return found;
}

/** Deliveries that were answered 2xx, and stand less often in the journal. */
export function lostDeliveries(at: Mirrored): string[] {
  const journal = new Map(
    at
      .query<{ id: number; n: number }>('SELECT object_id AS id, count(*) AS n FROM deliveries GROUP BY 1')
      .map(({ id, n }) => [id, n]),
  );
  const taken = new Map<number, number>();
  for (const { state, change } of at.service.callbacks.deliveries)
    if (state === 'acknowledged') taken.set(change.id, (taken.get(change.id) ?? 0) + 1);
  return [...taken]
    .filter(([id, n]) => (journal.get(id) ?? 0) < n)
    .map(([id, n]) => `of ${n} deliveries for ${id}, ${journal.get(id) ?? 0} are in the journal`);
}

/** Vendors that were announced and acknowledged, and that the mirror holds otherwise than a read by id shows them. */
export function unheeded(at: Mirrored): string[] {
  const mirror = read(at);
  const announced = new Set(
    at.service.callbacks.deliveries.filter(({ state }) => state === 'acknowledged').map(({ change }) => change.id),
  );
  return [...announced].flatMap((id) => {
    const vendor = at.service.records.get(id);
    if (vendor === undefined || !shownById(at, id) || id === at.service.odd.brokenId) return [];
    return mirror.rows.has(id)
      ? fieldsThatDiffer(at, mirror, vendor)
      : [`${id} was announced and is not in the mirror`];
  });
}

/** Of archived vendors, few of which were ever listed, only a read by id can tell whether they are still there. */
function isActive({ service }: Mirrored, { presence, vis_state: state }: MirrorRow): boolean {
  return presence === 'present' && state !== 1 && (state === 0 || service.choices.read === 'yes');
}

function shownById({ service }: Mirrored, id: number): boolean {
  return service.byId(id) !== undefined && !(id === service.odd.brokenId && service.choices.broken === '410');
}

function fieldsThatDiffer({ service }: Mirrored, mirror: Mirror, vendor: Vendor): string[] {
  const { choices } = service;
  const { id } = vendor;
  const row = mirror.rows.get(id)!;
  const shown = service.rendering.whole(vendor);
  const isUnreadable = (field: string): boolean => id === service.odd.unreadableId && field === choices.unreadable;
  // Without reads that work nobody can know what lists leave out or show otherwise; some vendors that are listed cannot be read. What moves there
  // without a trace is read again within a day.
  const isUnread = choices.read !== 'yes' || id === service.odd.brokenId || service.byId(id) === undefined;
  const moved = service.records.movedUnread.has(id) ? movingFields : [];
  const unknowable = fieldsOnlyById(choices).filter((field) => isUnread || moved.includes(field));
  const found: string[] = [];
  const compare = (field: string, here: unknown, there: unknown): void => {
    if (unknowable.includes(field)) return;
    const due = isUnreadable(field) ? null : there;
    if (here !== due) found.push(`${id}.${field} is ${JSON.stringify(here)}, should be ${JSON.stringify(due)}`);
  };
  for (const field of [...textFields, 'created_at', 'updated_at']) compare(field, row[field], shown[field]);
  compare('is_1099', row['is_1099'], Number(vendor.is1099));
  compare('vis_state', row.vis_state, vendor.visState);
  for (const kind of ['outstanding', 'overdue'] as const) {
    const field = `${kind}_balance`;
    const here = (mirror.balances.get(id) ?? []).filter((text) => text.startsWith(kind));
    const there = amounts(shown, field, vendor[kind]).map(({ amount, code }) => `${kind} ${amount} ${code}`);
    if (isUnreadable(field)) {
      // What can be read of it is shown; nothing else is.
      if (here.some((text) => !JSON.stringify(shown[field]).includes(text.split(' ')[1]!)))
        found.push(`${id}.${field} is ${here.join()}, and cannot be read`);
    } else compare(field, here.join(), there.sort().join());
  }
  if (!isUnreadable('tax_defaults')) {
    const there = (shown['tax_defaults'] as Shown[]).map(taxText).sort();
    compare('tax_defaults', (mirror.taxes.get(id) ?? []).join(), there.join());
  }
  return found;
}

const movingFields: readonly string[] = ['outstanding_balance', 'overdue_balance', 'tax_defaults'];

/** A balance of nothing may be shown as a zero. */
function amounts(shown: Shown, field: string, money: readonly Money[]): readonly Money[] {
  if (money.length > 0) return money;
  return JSON.stringify(shown[field]).includes('"0.00"')
    ? [{ amount: '0.00', code: String(shown['currency_code']) }]
    : [];
}

const taxFields = ['taxid', 'system_taxid', 'enabled', 'name', 'amount', 'tax_authorityid', 'created_at', 'updated_at'];

function taxText(tax: Shown): string {
  return JSON.stringify(taxFields.map((field) => (field === 'enabled' ? Boolean(tax[field]) : tax[field])));
}

function read(at: Mirrored): Mirror {
  const { account } = at.service;
  const balances = at.query<{ vendorid: number; text: string }>(
    `SELECT vendorid, kind || ' ' || amount || ' ' || code AS text FROM vendor_balances WHERE account_id = ?`,
    account,
  );
  const taxes = at
    .query<Shown & { vendorid: number }>('SELECT * FROM vendor_tax_defaults WHERE account_id = ?', account)
    .map((tax) => ({ vendorid: tax.vendorid, text: taxText(tax) }));
  const rows = at.query<MirrorRow>('SELECT * FROM vendors WHERE account_id = ?', account);
  return {
    rows: new Map(rows.map((row) => [row.vendorid, row])),
    balances: textsByVendor(balances),
    taxes: textsByVendor(taxes),
  };
}

function textsByVendor(rows: readonly { vendorid: number; text: string }[]): ReadonlyMap<number, readonly string[]> {
  const grouped = new Map<number, string[]>();
  for (const { vendorid, text } of rows) grouped.set(vendorid, [...(grouped.get(vendorid) ?? []), text].sort());
  return grouped;
}
