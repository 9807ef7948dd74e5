/** The journal of deliveries: written before they are acknowledged, settled when their vendor has been read. */
import { sql } from 'kysely';
import { timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { ofVendor } from '../vendor/of-vendor.ts';
import type { Marks } from './marks.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { SweepRequestWriter } from './sweep-request-writer.ts';
import type { DeliveryOutcome, DeliveryTable } from '../tables/mirror-tables.ts';
import type { NewDelivery, SettledOutcome, OpenDelivery, ParkedDeliveries } from '../records/delivery-record.ts';
import type { Database } from '../sqlite/database.ts';
import { shortLockWait } from '../sqlite/lock-wait.ts';
import type { Deliveries } from '../areas/areas.ts';

/** The most marked vendors of an account; each is one row, however many deliveries name it. */
const roomForMarks = 10_000;

export class SqliteDeliveries implements Deliveries {
  readonly #database: Database;
  readonly #marks: Marks;
  readonly #sweeps: SweepRequestWriter;
  readonly #insert: Statement<Omit<DeliveryTable, 'id'>>;
  readonly #roomFor: () => (key: VendorKey) => boolean;
  readonly #open: Statement<VendorKey, OpenDelivery>;
  readonly #lastUnanswered: Statement<VendorKey, { received_at: string | null }>;
  readonly #settle: Statement<VendorKey & { upTo: number; outcome: DeliveryOutcome; settled_at: string | null }>;
  readonly #givenUp: Statement<{ account_id: string }, ParkedDeliveries>;
  readonly #parked: Statement<{ account: string | null; vendorid: number | null }, VendorKey>;
  #accepted = 0;

  constructor(database: Database, marks: Marks, sweeps: SweepRequestWriter) {
    const { sqlite } = database;
    this.#database = database;
    this.#marks = marks;
    this.#sweeps = sweeps;
    this.#insert = statement(sqlite, (at) =>
      mirrorSql.insertInto('deliveries').values({
        account_id: at('account_id'),
        received_at: at('received_at'),
        name: at('name'),
        object_id: at('object_id'),
        business_id: at('business_id'),
        identity_id: at('identity_id'),
        user_id: at('user_id'),
        outcome: at('outcome'),
        settled_at: at('settled_at'),
      }),
    );
    this.#roomFor = roomCheck(sqlite);
    this.#open = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('deliveries')
        .select(['id', 'received_at'])
        .where('account_id', '=', at('account_id'))
        .where('object_id', '=', at('vendorid'))
        .where('outcome', 'in', ['pending', 'parked'])
        .orderBy('id'),
    );
    this.#lastUnanswered = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('deliveries')
        .select((row) => row.fn.max('received_at').as('received_at'))
        .where('account_id', '=', at('account_id'))
        .where('object_id', '=', at('vendorid'))
        .where('outcome', 'not in', ['ignored', 'applied']),
    );
    this.#settle = statement(sqlite, (at) =>
      mirrorSql
        .updateTable('deliveries')
        .set({ outcome: at('outcome'), settled_at: at('settled_at') })
        .where('account_id', '=', at('account_id'))
        .where('object_id', '=', at('vendorid'))
        .where('id', '<=', at('upTo'))
        .where('outcome', 'in', ['pending', 'parked']),
    );
    // The index contains only unsettled deliveries, which are few; other indexes cover the whole journal.
    this.#givenUp = plainStatement(
      sqlite,
      `
    SELECT object_id AS vendorid, max(id) AS upTo FROM deliveries INDEXED BY deliveries_unsettled
    WHERE account_id = :account_id AND outcome IN ('pending', 'parked') AND outcome = 'parked'
    GROUP BY object_id`,
    );
    this.#parked = parkedVendors(sqlite);
  }

  /** How many deliveries this process has received. */
  get acceptedCount(): number {
    return this.#accepted;
  }

  /** Also requests a sweep where a delivery names a callback of ours. */
  acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<void> {
    this.#accepted += deliveries.length;
    return this.#database.write(() => {
      const hasRoom = this.#roomFor();
      const isCallback = this.#sweeps.beginCallbackCheck();
      const keys: VendorKey[] = [];
      for (const delivery of deliveries) {
        const { accountId, vendorid } = delivery;
        const key = vendorid === null ? undefined : { account_id: accountId, vendorid };
        if (key) {
          const room = hasRoom(key);
          if (room) keys.push(key);
          // The service's reference describes `object_id` both as the callback and as the object of the event.
          const namesCallback = isCallback(accountId, key.vendorid);
          if (!room || namesCallback) this.#sweeps.request(accountId, delivery.receivedAt, namesCallback);
        }
        const received_at = timestamp(delivery.receivedAt);
        this.#insert.run({
          account_id: accountId,
          received_at,
          name: delivery.name,
          object_id: delivery.objectId,
          business_id: delivery.businessId,
          identity_id: delivery.identityId,
          user_id: delivery.userId,
          outcome: key ? 'pending' : 'ignored',
          settled_at: key ? null : received_at,
        });
      }
      this.#marks.add(keys, 'delivery', 0);
    }, shortLockWait);
  }

  /** Starts a check of the room for marks, as in `acceptDeliveries`. */
  beginRoomCheck(): (key: VendorKey) => boolean {
    return this.#roomFor();
  }

  /** The unsettled deliveries of a vendor, oldest first. */
  open(key: VendorKey): OpenDelivery[] {
    return this.#open.all(key);
  }

  /** The parked deliveries of an account, whatever came since. */
  parked(account: { account_id: string }): ParkedDeliveries[] {
    return this.#givenUp.all(account);
  }

  /** When the newest delivery of a vendor came that no reading has confirmed, settled or not; null where there is none. */
  lastUnanswered(key: VendorKey): string | null {
    return this.#lastUnanswered.get(key)?.received_at ?? null;
  }

  /** Settles the deliveries of a vendor up to `upTo`, which its reading has answered. Runs inside a transaction. */
  settle(key: VendorKey, upTo: number, outcome: SettledOutcome, now: number): void {
    // Parked deliveries are not settled: the next reconciliation retries them.
    this.#settle.run({ ...key, upTo, outcome, settled_at: outcome === 'parked' ? null : timestamp(now) });
  }

  retryParked({ account, vendorid }: { account?: string | undefined; vendorid?: number | undefined }): Promise<number> {
    return this.#database.write(() => {
      const keys = this.#parked.all({ account: account ?? null, vendorid: vendorid ?? null });
      this.#marks.add(keys, 'asked', 0);
      for (const key of keys)
        this.#settle.run({ ...key, upTo: Number.MAX_SAFE_INTEGER, outcome: 'pending', settled_at: null });
      return keys.length;
    });
  }
}

/**
 * Returns a function that starts a check of the room in the queue. The check returns true for a vendor that is already marked or still
 * fits, and counts it. The marks of an account are counted once for each check.
 */
function roomCheck(sqlite: Sqlite): () => (key: VendorKey) => boolean {
  const waiting = statement<{ account_id: string }, { marks: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom((from) =>
        from
          .selectFrom('dirty_vendors')
          .select('vendorid')
          .where('account_id', '=', at('account_id'))
          .limit(roomForMarks)
          .as('waiting'),
      )
      .select((row) => row.fn.countAll<number>().as('marks')),
  );
  const isMarked = statement<VendorKey, { vendorid: number }>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('dirty_vendors').select('vendorid'), at),
  );
  return () => {
    const room = new Map<string, number>();
    const added = new Set<string>();
    return (key) => {
      const { account_id, vendorid } = key;
      const name = `${account_id} ${vendorid}`;
      if (isMarked.get(key) || added.has(name)) return true;
      const left = room.get(account_id) ?? roomForMarks - (waiting.get(key)?.marks ?? 0);
      if (left <= 0) return false;
      room.set(account_id, left - 1);
      added.add(name);
      return true;
    };
  };
}

/** Parked vendors, by their mark or by a delivery. */
function parkedVendors(sqlite: Sqlite): Statement<{ account: string | null; vendorid: number | null }, VendorKey> {
  return statement<{ account: string | null; vendorid: number | null }, VendorKey>(sqlite, (at) =>
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
      .where(sql<boolean>`(${at('account')} IS NULL OR account_id = ${at('account')})`)
      .where(sql<boolean>`(${at('vendorid')} IS NULL OR vendorid = ${at('vendorid')})`),
  );
}
