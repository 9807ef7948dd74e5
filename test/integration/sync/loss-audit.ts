/** What the service sent and lost, as the sandbox knows it, held against what the mirror can know of it. */
import { parseInstant } from '../../../src/domain/clock.ts';
import type { DaemonTestbed } from '../../support/testbed/daemon.ts';

export interface Finding {
  readonly vendorid: number;
  readonly kind: string;
  readonly found_at: string;
  readonly explained_at: string | null;
}

interface Version {
  readonly vendorid: number;
  readonly valid_from: string;
  readonly changed_fields: string;
  readonly run_id: number | null;
  readonly delivery_id: number | null;
}

interface Journalled {
  readonly object_id: number;
  readonly received_at: string;
  readonly settled_at: string;
}

export interface LossAudit {
  /** Events that were never sent, as `vendor at moment`, where a sweep met the change while no delivery about the vendor was open. */
  readonly detectable: readonly string[];
  /** Those of them without a finding. */
  readonly missing: readonly string[];
  /** Vendors with more findings that stand unexplained than events about them were lost. */
  readonly invented: readonly string[];
  /** Deliveries of true events that were acknowledged. */
  readonly delivered: number;
}

/**
 * A vendor is looked at once more so long after a delivery, in milliseconds; a change that is met meanwhile counts as told. Half a
 * minute, and as much again where the service refuses the look.
 */
const secondLookWindow = 60_000;

/** Compares both, once every delivery has come or been lost. */
export function auditLosses({ sandbox, query }: Pick<DaemonTestbed, 'sandbox' | 'query'>): LossAudit {
  const deliveries = sandbox.deliveries().filter(({ kind }) => kind === 'event' || kind === 'repeat');
  const lost = deliveries.filter(({ outcome }) => outcome === 'lost');
  const journal = byVendor(
    query<Journalled>(`SELECT object_id, received_at, settled_at FROM deliveries WHERE outcome <> 'ignored'`),
    ({ object_id }) => object_id,
  );
  const versions = byVendor(
    query<Version>(
      'SELECT vendorid, valid_from, changed_fields, run_id, delivery_id FROM vendor_versions ORDER BY seq',
    ),
    ({ vendorid }) => vendorid,
  );
  const all = query<Finding>(
    `SELECT vendorid, kind, found_at, explained_at FROM findings WHERE kind LIKE 'missed_%' OR kind = 'in_flight' ORDER BY id`,
  );
  const findings = byVendor(all, ({ vendorid }) => vendorid);

  const detectable: string[] = [];
  const missing: string[] = [];
  for (const { objectId, at } of lost) {
    // A balance that changed alone has no event: such a version tells nothing of the one that was lost.
    const learned = versions
      .get(objectId)
      ?.find(
        ({ valid_from, changed_fields }) => moment(valid_from) >= at && changed_fields !== '["outstanding_balance"]',
      );
    // A delivery of a later change has brought it, or the second look after an earlier one: no sweep met it.
    if (learned?.delivery_id !== null || learned.run_id === null) continue;
    const met = moment(learned.valid_from);
    const told = journal
      .get(objectId)
      ?.some((entry) => moment(entry.received_at) <= met && moment(entry.settled_at) + secondLookWindow >= met);
    if (told) continue;
    const words = `${objectId} at ${at}`;
    if (detectable.includes(words)) continue;
    detectable.push(words);
    if (!findings.get(objectId)?.some(({ found_at }) => found_at === learned.valid_from)) missing.push(words);
  }

  const unexplained = all.filter(({ explained_at }) => explained_at === null);
  const losses = byVendor(lost, ({ objectId }) => objectId);
  const invented = [...byVendor(unexplained, ({ vendorid }) => vendorid)]
    .filter(([vendorid, open]) => open.length > (losses.get(vendorid) ?? []).length)
    .map(([vendorid, open]) => `${vendorid}: ${open.map(({ kind, found_at }) => `${kind} at ${found_at}`).join(', ')}`);

  const delivered = deliveries.filter(({ kind, outcome }) => kind === 'event' && outcome === 'acknowledged').length;
  return { detectable, missing, invented, delivered };
}

function moment(text: string): number {
  return parseInstant(text) ?? NaN;
}

function byVendor<T>(rows: readonly T[], vendorOf: (row: T) => number): ReadonlyMap<number, T[]> {
  const sorted = new Map<number, T[]>();
  for (const row of rows) sorted.set(vendorOf(row), [...(sorted.get(vendorOf(row)) ?? []), row]);
  return sorted;
}
