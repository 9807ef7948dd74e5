/** The journal of deliveries: written before they are acknowledged, settled when their vendor has been read. */
import { sql, type Selectable } from 'kysely';
import { timestamp } from '../clock.ts';
import type { Sqlite } from './driver.ts';
import type { Key } from './held.ts';
import type { Marks } from './marks.ts';
import { mirrorSql, statement } from './statement.ts';
import type { DeliveryOutcome, DeliveryTable } from './tables.ts';

/** A signed delivery (reference 6.3), as it shall be journalled. */
export interface NewDelivery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly name: string;
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
  /** The vendor to be read again; null where the delivery is about none, and is only written down. */
  readonly vendorid: number | null;
}

export type SettledOutcome = Extract<DeliveryOutcome, 'applied' | 'unchanged' | 'not_found' | 'parked'>;

export type OpenDelivery = Pick<Selectable<DeliveryTable>, 'id' | 'received_at'>;

export interface Deliveries {
  /**
   * Journals a delivery and marks its vendor. Runs inside a transaction.
   * @returns false, and nothing is written, where the queue has no room for another vendor: let the service send it again.
   */
  accept(delivery: NewDelivery): boolean;
  /** The deliveries about a vendor that are not settled, oldest first. */
  open(key: Key): OpenDelivery[];
  /** When the newest delivery about a vendor came for which no reading has shown anything new, settled or not. */
  lastUnanswered(key: Key): string | null;
  /** Settles what was delivered about a vendor up to the delivery `upTo`, which its reading has answered. Runs inside a transaction. */
  settle(key: Key, upTo: number, outcome: SettledOutcome, now: number): void;
  /** Marks parked vendors, of one account or one number if told, to be read now. Runs inside a transaction. @returns how many. */
  retry(which: { account?: string | undefined; vendorid?: number | undefined }): number;
}

/** Most vendors of an account that may wait; each is one row, however many deliveries name it. */
const roomForMarks = 10_000;

export function deliveryJournal(sqlite: Sqlite, marks: Marks): Deliveries {
  const insert = statement<Omit<DeliveryTable, 'id'>>(sqlite, (at) =>
    mirrorSql.insertInto('deliveries').values({
      account_id: at.account_id,
      received_at: at.received_at,
      name: at.name,
      object_id: at.object_id,
      business_id: at.business_id,
      identity_id: at.identity_id,
      user_id: at.user_id,
      outcome: at.outcome,
      settled_at: at.settled_at,
    }),
  );
  const hasRoom = roomCheck(sqlite);
  const open = statement<Key, OpenDelivery>(sqlite, (at) =>
    mirrorSql
      .selectFrom('deliveries')
      .select(['id', 'received_at'])
      .where('account_id', '=', at.account_id)
      .where('object_id', '=', at.vendorid)
      .where('outcome', 'in', ['pending', 'parked'])
      .orderBy('id'),
  );
  const lastUnanswered = statement<Key, { received_at: string | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('deliveries')
      .select((row) => row.fn.max('received_at').as('received_at'))
      .where('account_id', '=', at.account_id)
      .where('object_id', '=', at.vendorid)
      .where('outcome', 'not in', ['ignored', 'applied']),
  );
  const settle = statement<Key & { upTo: number; outcome: DeliveryOutcome; settled_at: string | null }>(sqlite, (at) =>
    mirrorSql
      .updateTable('deliveries')
      .set({ outcome: at.outcome, settled_at: at.settled_at })
      .where('account_id', '=', at.account_id)
      .where('object_id', '=', at.vendorid)
      .where('id', '<=', at.upTo)
      .where('outcome', 'in', ['pending', 'parked']),
  );
  const parked = parkedVendors(sqlite);

  return {
    accept(delivery) {
      const { accountId, receivedAt, vendorid } = delivery;
      const key = vendorid === null ? undefined : { account_id: accountId, vendorid };
      if (key && !hasRoom(key)) return false;
      insert.run({
        account_id: accountId,
        received_at: timestamp(receivedAt),
        name: delivery.name,
        object_id: delivery.objectId,
        business_id: delivery.businessId,
        identity_id: delivery.identityId,
        user_id: delivery.userId,
        outcome: key ? 'pending' : 'ignored',
        settled_at: key ? null : timestamp(receivedAt),
      });
      if (key) marks.add(key, 'delivery', 0);
      return true;
    },
    open: (key) => open.all(key),
    lastUnanswered: (key) => lastUnanswered.get(key)?.received_at ?? null,
    settle: (key, upTo, outcome, now) =>
      // A parked one is given up only until the next reconciliation.
      void settle.run({ ...key, upTo, outcome, settled_at: outcome === 'parked' ? null : timestamp(now) }),
    retry({ account, vendorid }) {
      const keys = parked.all({ account: account ?? null, vendorid: vendorid ?? null });
      for (const key of keys) {
        marks.add(key, 'asked', 0);
        settle.run({ ...key, upTo: Number.MAX_SAFE_INTEGER, outcome: 'pending', settled_at: null });
      }
      return keys.length;
    },
  };
}

/** Whether a vendor may be marked: it is already, or the queue of its account is not full. */
function roomCheck(sqlite: Sqlite): (key: Key) => boolean {
  const isFull = statement<{ account_id: string }, { vendorid: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select('vendorid')
      .where('account_id', '=', at.account_id)
      .limit(1)
      .offset(roomForMarks - 1),
  );
  const isMarked = statement<Key, { vendorid: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select('vendorid')
      .where('account_id', '=', at.account_id)
      .where('vendorid', '=', at.vendorid),
  );
  return (key) => isMarked.get(key) !== undefined || isFull.get(key) === undefined;
}

/** Vendors that were given up, whether their mark or a delivery of theirs says so. */
function parkedVendors(
  sqlite: Sqlite,
): ReturnType<typeof statement<{ account: string | null; vendorid: number | null }, Key>> {
  return statement<{ account: string | null; vendorid: number | null }, Key>(sqlite, (at) =>
    mirrorSql
      .selectFrom('dirty_vendors')
      .select(['account_id', 'vendorid'])
      .where('due_at', 'is', null)
      .union(
        mirrorSql
          .selectFrom('deliveries')
          .select(['account_id', sql<number>`object_id`.as('vendorid')])
          .where('outcome', '=', 'parked'),
      )
      .$call((both) => mirrorSql.selectFrom(both.as('parked')).selectAll())
      .where(sql<boolean>`(${at.account} IS NULL OR account_id = ${at.account})`)
      .where(sql<boolean>`(${at.vendorid} IS NULL OR vendorid = ${at.vendorid})`),
  );
}
