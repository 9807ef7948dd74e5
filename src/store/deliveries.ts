/**
 * The journal of deliveries: written before they are acknowledged, settled when their vendor has been read, listed for people.
 */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { Marks } from './marks.ts';
import type { ReadingCounter } from './reading-counter.ts';
import { expiringBy } from './retention.ts';
import { shortLockWait, type Database } from './sql/database.ts';
import {
  asking,
  columns,
  keyText,
  mirrorSql,
  noLimit,
  ofVendor,
  runQuery,
  statement,
  Operations,
  type Connection,
  type None,
  type At,
  type Statement,
} from './sql/statement.ts';
import type { DeliveryOutcome, DeliveryTable, VendorKey } from './sql/schema.ts';

/** A correctly signed delivery, to be journalled. */
export interface NewDelivery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly name: string;
  readonly objectId: number | null;
  readonly businessId: number | null;
  readonly identityId: number | null;
  readonly userId: number | null;
  /** The vendor to read again; null where the delivery is about none, or does not say which. */
  readonly vendorid: number | null;
  /** It is about a vendor and does not say which. */
  readonly asksForSweep?: boolean;
}

export type SettledOutcome = Extract<DeliveryOutcome, 'applied' | 'unchanged' | 'not_found' | 'parked'>;

export type OpenDelivery = Pick<Selectable<DeliveryTable>, 'id' | 'received_at'>;

/** Parked deliveries of a vendor, up to the delivery `upTo`. */
export interface ParkedDeliveries {
  readonly vendorid: number;
  readonly upTo: number;
}

const ids = ['object_id', 'business_id', 'identity_id', 'user_id'] as const;
const journalled = ['account_id', 'received_at', 'name', ...ids, 'outcome', 'settled_at'] as const;

/** The most marked vendors of an account; each is one row, however many deliveries name it. */
const roomForMarks = 10_000;

/** Whether there is room for the mark of a vendor. */
type RoomCheck = (key: VendorKey) => Promise<boolean>;

const isAbout = (at: At<VendorKey>): RawBuilder<unknown> =>
  sql`account_id = ${at('account_id')} AND object_id = ${at('vendorid')}`;

export class Deliveries extends Operations {
  readonly #database: Database;
  readonly #marks: Marks;
  readonly #sweeps: SweepRequestWriter;
  readonly #insert = statement<Omit<DeliveryTable, 'id'>>(this.db, (at) =>
    mirrorSql.insertInto('deliveries').values(columns(at, journalled)),
  );
  readonly #roomFor = roomCheck(this.db);
  readonly #open = statement<VendorKey, OpenDelivery>(
    this.db,
    (at) => sql`
        SELECT id, received_at FROM deliveries
        WHERE ${isAbout(at)} AND outcome IN ('pending', 'parked') ORDER BY id`,
  );
  readonly #lastUnanswered = statement<VendorKey, { received_at: string | null }>(
    this.db,
    (at) => sql`
        SELECT max(received_at) AS received_at FROM deliveries
        WHERE ${isAbout(at)} AND outcome NOT IN ('ignored', 'applied')`,
  );
  readonly #settle = statement<VendorKey & { upTo: number; outcome: DeliveryOutcome; settled_at: string | null }>(
    this.db,
    (at) => sql`
        UPDATE deliveries SET outcome = ${at('outcome')}, settled_at = ${at('settled_at')}
        WHERE ${isAbout(at)} AND id <= ${at('upTo')} AND outcome IN ('pending', 'parked')`,
  );
  // The index contains only unsettled deliveries, which are few; other indexes cover the whole journal.
  readonly #givenUp = statement(this.db)<{ account_id: string }, ParkedDeliveries>`
    SELECT object_id AS vendorid, max(id) AS "upTo" FROM deliveries INDEXED BY deliveries_unsettled
    WHERE account_id = ${'account_id'} AND outcome IN ('pending', 'parked') AND outcome = 'parked'
    GROUP BY object_id`;
  readonly #parked = parkedVendors(this.db);
  readonly #last = statement(this.db)<None, { id: number | null }>`SELECT max(id) AS id FROM deliveries`;
  readonly #arrived = statement(this.db)<{ after: number }, { account_id: string }>`
    SELECT DISTINCT account_id FROM deliveries WHERE id > ${'after'}`;
  #accepted = 0;

  constructor(database: Database, marks: Marks, sweeps: SweepRequestWriter) {
    super(database.connection);
    this.#database = database;
    this.#marks = marks;
    this.#sweeps = sweeps;
  }

  get acceptedCount(): number {
    return this.#accepted;
  }

  /**
   * Journals deliveries and marks their vendors; requests a sweep instead where the queue is full or no vendor is named, and also where a
   * delivery names a callback of ours. One commit, which is on disk when this resolves.
   * @throws MirrorError `database_locked` after a short wait, because the service waits for its answer; `database_unusable` where they were
   * written into a file that is no longer at its path.
   */
  async acceptDeliveries(deliveries: readonly NewDelivery[]): Promise<void> {
    this.#accepted += deliveries.length;
    await this.#database.write(async () => {
      const keyOf = ({ accountId, vendorid }: NewDelivery): VendorKey | undefined =>
        vendorid === null ? undefined : { account_id: accountId, vendorid };
      const hasRoom = this.#roomFor(deliveries.map(keyOf).filter((key) => key !== undefined));
      const isCallback = this.#sweeps.beginCallbackCheck();
      const keys: VendorKey[] = [];
      for (const delivery of deliveries) {
        const { accountId, asksForSweep } = delivery;
        if (asksForSweep) await this.#sweeps.request(accountId, delivery.receivedAt, false);
        const key = keyOf(delivery);
        if (key) {
          const room = await hasRoom(key);
          if (room) keys.push(key);
          // The service's reference describes `object_id` both as the callback and as the object of the event.
          const namesCallback = await isCallback(accountId, key.vendorid);
          if (!room || namesCallback) await this.#sweeps.request(accountId, delivery.receivedAt, namesCallback);
        }
        const received_at = timestamp(delivery.receivedAt);
        this.#insert.send({
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
      await this.#marks.add(keys, 'delivery', 0);
    }, shortLockWait);
  }

  /**
   * The accounts of deliveries after that one, whichever process took them: ids are in the order of commits.
   * @param after undefined for none, to learn which is the last
   */
  arrivedAfter(after: number | undefined): Promise<{ last: number; accounts: readonly string[] }> {
    return this.#database.read(async () => {
      const last = (await this.#last.get({}))?.id ?? 0;
      const arrived = after === undefined || last <= after ? [] : await this.#arrived.all({ after });
      return { last, accounts: arrived.map(({ account_id }) => account_id) };
    });
  }

  /** Starts a check of the room for marks, as in `acceptDeliveries`. */
  beginRoomCheck(): RoomCheck {
    return this.#roomFor([]);
  }

  /** The unsettled deliveries of a vendor, oldest first. */
  open(key: VendorKey): Promise<OpenDelivery[]> {
    return this.#open.all(key);
  }

  /** The parked deliveries of an account, whatever came since. */
  parked(account: { account_id: string }): Promise<ParkedDeliveries[]> {
    return this.#givenUp.all(account);
  }

  /** When the newest delivery of a vendor came that no reading has confirmed, settled or not; null where there is none. */
  async lastUnanswered(key: VendorKey): Promise<string | null> {
    return (await this.#lastUnanswered.get(key))?.received_at ?? null;
  }

  /** Settles the deliveries of a vendor up to `upTo`, which its reading has answered. Runs inside a transaction. */
  settle(key: VendorKey, upTo: number, outcome: SettledOutcome, now: number): void {
    // Parked deliveries are not settled: the next reconciliation retries them.
    this.#settle.send({ ...key, upTo, outcome, settled_at: outcome === 'parked' ? null : timestamp(now) });
  }

  /** Marks parked vendors again: all, or those of one account or id. @returns how many. */
  retryParked({ account, vendorid }: { account?: string | undefined; vendorid?: number | undefined }): Promise<number> {
    return this.#database.write(async () => {
      const keys = await this.#parked.all({ account: account ?? null, vendorid: vendorid ?? null });
      await this.#marks.add(keys, 'asked', 0);
      for (const key of keys)
        this.#settle.send({ ...key, upTo: Number.MAX_SAFE_INTEGER, outcome: 'pending', settled_at: null });
      return keys.length;
    });
  }
}

/**
 * Returns a function that starts a check of the room in the queue. The check returns true for a vendor that is already marked or still
 * fits, and counts it. The marks of an account are counted once for each check.
 */
function roomCheck(db: Connection): (keys: readonly VendorKey[]) => RoomCheck {
  const waiting = statement(db)<{ account_id: string }, { marks: number }>`
    SELECT count(*) AS marks FROM (
      SELECT 1 FROM dirty_vendors WHERE account_id = ${'account_id'} LIMIT ${roomForMarks}) AS marked`;
  const isMarked = statement<VendorKey, { vendorid: number }>(db, (at) =>
    ofVendor(mirrorSql.selectFrom('dirty_vendors').select('vendorid'), at),
  );
  return (keys) => {
    const known = new Map(keys.map((key) => [keyText(key), key]));
    const isKnownMarked = asking(db, [...known.values()], (key) => isMarked.get(key));
    const accounts = [...new Set(keys.map(({ account_id }) => account_id))];
    const marksOf = asking(db, accounts, (account_id) => waiting.get({ account_id }));
    const room = new Map<string, number>();
    const added = new Set<string>();
    return async (key) => {
      const { account_id } = key;
      const name = keyText(key);
      if ((await isKnownMarked(known.get(name) ?? key)) || added.has(name)) return true;
      const left = room.get(account_id) ?? roomForMarks - ((await marksOf(account_id))?.marks ?? 0);
      if (left <= 0) return false;
      room.set(account_id, left - 1);
      added.add(name);
      return true;
    };
  };
}

/** Parked vendors, by their mark or by a delivery. */
function parkedVendors(db: Connection): Statement<{ account: string | null; vendorid: number | null }, VendorKey> {
  return statement(db)<{ account: string | null; vendorid: number | null }, VendorKey>`
    SELECT account_id, vendorid FROM (
      SELECT account_id, vendorid FROM dirty_vendors WHERE due_at IS NULL
      UNION SELECT account_id, object_id FROM deliveries WHERE outcome = 'parked') AS parked
    WHERE (CAST(${'account'} AS TEXT) IS NULL OR account_id = ${'account'})
      AND (CAST(${'vendorid'} AS BIGINT) IS NULL OR vendorid = ${'vendorid'})`;
}

/**
 * Requests for a sweep by deliveries whose vendor cannot be marked. Each raises the generation of its account's single row, in the
 * transaction that journals the delivery.
 */
export class SweepRequestWriter extends Operations {
  readonly #counter: ReadingCounter;
  readonly #callbacks = statement(this.db)<{ account_id: string }, { callbackid: number }>`
    SELECT callbackid FROM callbacks WHERE account_id = ${'account_id'}`;
  readonly #ask = statement(this.db)<{
    account_id: string;
    asked_at: string;
    now: number;
    callback_ids: number;
    callback_id_at: string | null;
  }>`
    INSERT INTO _sweep_requests (account_id, generation, asked_at, asked_ms, last_ms, callback_ids, callback_id_at)
    VALUES (${'account_id'}, 1, ${'asked_at'}, ${'now'}, ${'now'}, ${'callback_ids'}, ${'callback_id_at'})
    ON CONFLICT (account_id) DO UPDATE SET generation = _sweep_requests.generation + 1,
      asked_at = coalesce(_sweep_requests.asked_at, excluded.asked_at),
      asked_ms = coalesce(_sweep_requests.asked_ms, excluded.asked_ms), last_ms = excluded.last_ms,
      callback_ids = _sweep_requests.callback_ids + excluded.callback_ids,
      callback_id_at = coalesce(excluded.callback_id_at, _sweep_requests.callback_id_at)`;

  constructor(db: Connection, counter: ReadingCounter) {
    super(db);
    this.#counter = counter;
  }

  /** Starts a check of whether an id is that of a callback of ours. Valid inside one transaction: each account's are read once. */
  beginCallbackCheck(): (account_id: string, id: number) => Promise<boolean> {
    const known = new Map<string, ReadonlySet<number>>();
    return async (account_id, id) => {
      const ours =
        known.get(account_id) ??
        new Set((await this.#callbacks.all({ account_id })).map(({ callbackid }) => callbackid));
      known.set(account_id, ours);
      return ours.has(id);
    };
  }

  /** Requests a sweep of an account. Runs inside a transaction. */
  async request(account_id: string, receivedAt: number, namesCallback: boolean): Promise<void> {
    const now = await this.#counter.moment();
    const asked_at = timestamp(receivedAt);
    const [callback_ids, callback_id_at] = namesCallback ? [1, asked_at] : [0, null];
    this.#ask.send({ account_id, asked_at, now, callback_ids, callback_id_at });
  }
}

/** Which deliveries to list; omitted conditions do not filter. */
export interface DeliveryFilter {
  readonly account?: string | undefined;
  readonly outcome?: DeliveryOutcome | undefined;
  readonly vendorid?: number | undefined;
  /** Received at this moment or later, milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly limit?: number | undefined;
}

export type ListedDelivery = Omit<DeliveryTable, 'id'> & { readonly id: number };

export interface DeliveryList {
  /** The number of matches, regardless of the limit. */
  readonly total: number;
  /** The newest first. */
  readonly deliveries: readonly ListedDelivery[];
}

export async function listDeliveries(db: Connection, filter: DeliveryFilter): Promise<DeliveryList> {
  const [total] = await runQuery(
    db,
    wanted(filter).select((row) => row.fn.countAll<number>().as('count')),
  );
  return { total: total?.count ?? 0, deliveries: await latestDeliveries(db, filter) };
}

/** The same without the count. */
export function latestDeliveries(db: Connection, filter: DeliveryFilter): Promise<ListedDelivery[]> {
  return runQuery<ListedDelivery>(
    db,
    wanted(filter)
      .select(['id', ...journalled])
      .orderBy('id', 'desc')
      .limit(filter.limit ?? noLimit),
  );
}

function wanted({ account, outcome, vendorid, since }: DeliveryFilter) {
  return mirrorSql
    .selectFrom('deliveries')
    .$if(account !== undefined, (rows) => rows.where('account_id', '=', account ?? ''))
    .$if(outcome !== undefined, (rows) => rows.where('outcome', '=', outcome ?? 'pending'))
    .$if(vendorid !== undefined, (rows) => rows.where('object_id', '=', vendorid ?? 0))
    .$if(vendorid !== undefined, (rows) => rows.where(sql<boolean>`name LIKE 'bill_vendor.%'`))
    .$if(since !== undefined, (rows) => rows.where('received_at', '>=', timestamp(since ?? 0)));
}

/** Only settled ones. */
export const expiringDeliveries = expiringBy(
  sql`deliveries`,
  sql`id`,
  sql`received_at`,
  sql`outcome IN ('pending', 'parked')`,
);
