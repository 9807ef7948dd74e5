/** Marks: one row for each vendor that must be read again. Marking again raises the generation. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import { repeatDelays, type MarkReason } from '../domain/retry.ts';
import type { By, ReadingCounter } from './reading-counter.ts';
import { Operations, statement, type Connection, type Statement } from './sql/statement.ts';
import type { DirtyVendorTable, VendorKey } from './sql/schema.ts';

/** The delay before another delivery causes a read, in milliseconds. */
const rest = sql<number>`CASE ${sql.join(
  repeatDelays.map((ms, attempts) =>
    attempts < repeatDelays.length - 1 ? sql`WHEN dirty_vendors.attempts <= ${attempts} THEN ${ms}` : sql`ELSE ${ms}`,
  ),
  sql` `,
)} END`;
const restOfMark = sql<number>`CASE excluded.reason WHEN 'delivery' THEN ${rest} ELSE 0 END`;

/** The earlier due time counts; a parked vendor (null) becomes due. A guard postpones: reading before its end does not help. */
const isSooner = sql<boolean>`excluded.reason <> 'guarded' AND dirty_vendors.due_ms <= excluded.due_ms + ${restOfMark}`;

export class Marks extends Operations {
  readonly #clock: Clock;
  readonly #counter: ReadingCounter;
  // One sequence for all vendors: generations are never reused, so a late settle cannot remove a newer mark.
  readonly #takeGenerations = statement(this.db)<{ marks: number }, { last: number }>`
    UPDATE _reading_counter SET generation = generation + ${'marks'} RETURNING generation AS last`;
  readonly #upsert = statement(this.db)<Omit<DirtyVendorTable, 'attempts' | 'last_error' | 'last_ms'>>`
    INSERT INTO dirty_vendors
      (account_id, vendorid, generation, marked_at, due_at, due_ms, attempts, reason, marked_ms, last_ms)
    VALUES (${'account_id'}, ${'vendorid'}, ${'generation'}, ${'marked_at'}, ${'due_at'}, ${'due_ms'}, 0, ${'reason'},
      ${'marked_ms'}, ${'marked_ms'})
    ON CONFLICT (account_id, vendorid) DO UPDATE SET generation = excluded.generation, last_ms = excluded.last_ms,
      due_at = CASE WHEN ${isSooner} THEN dirty_vendors.due_at
        ELSE strftime('%Y-%m-%d %H:%M:%f', excluded.due_at, (${restOfMark} / 1000.0) || ' seconds') END,
      due_ms = CASE WHEN ${isSooner} THEN dirty_vendors.due_ms ELSE excluded.due_ms + ${restOfMark} END,
      attempts = CASE excluded.reason WHEN 'delivery' THEN dirty_vendors.attempts ELSE 0 END,
      reason = CASE WHEN excluded.reason = 'delivery' OR dirty_vendors.due_ms IS NULL THEN excluded.reason
        ELSE dirty_vendors.reason END`;
  readonly #count = statement(this.db)<VendorKey & { attempts: number; last_error: string | null }>`
    UPDATE dirty_vendors SET attempts = ${'attempts'}, last_error = ${'last_error'}
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND reason = 'delivery' AND attempts <= ${'attempts'}`;
  // A server would take the type of the rest for that of the moment, which is too small for it.
  readonly #putOff = statement(this.db)<VendorKey & { due_at: string; due_ms: number }>`
    UPDATE dirty_vendors SET due_at = strftime('%Y-%m-%d %H:%M:%f', ${'due_at'}, (${rest} / 1000.0) || ' seconds'),
      due_ms = CAST(${'due_ms'} AS bigint) + ${rest}
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND reason = 'delivery'
      AND due_ms < CAST(${'due_ms'} AS bigint) + ${rest}`;
  readonly #announced = statement(this.db)<VendorKey, { vendorid: number }>`
    SELECT vendorid FROM dirty_vendors WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND reason IN ('delivery', 'second_look')`;

  constructor(db: Connection, clock: Clock, counter: ReadingCounter) {
    super(db);
    this.#clock = clock;
    this.#counter = counter;
  }

  /** Whether a delivery about the vendor waits for a reading. */
  async isAnnounced(key: VendorKey): Promise<boolean> {
    return (await this.#announced.get(key)) !== undefined;
  }

  /** Marks vendors as due after `delay` milliseconds. Runs inside a transaction. */
  async add(keys: readonly VendorKey[], reason: MarkReason, delay: number): Promise<void> {
    if (keys.length === 0) return;
    const now = this.#clock.now();
    const marked_at = timestamp(now);
    const due_at = timestamp(now + delay);
    const [moment, taken] = await Promise.all([
      this.#counter.moment(),
      this.#takeGenerations.get({ marks: keys.length }),
    ]);
    const last = taken?.last ?? 0;
    const marked_ms = Math.ceil(moment);
    const due_ms = Math.ceil(marked_ms + delay);
    for (const [index, { account_id, vendorid }] of keys.entries()) {
      const generation = last - keys.length + 1 + index;
      this.#upsert.send({ account_id, vendorid, generation, marked_at, due_at, due_ms, reason, marked_ms });
    }
  }

  /**
   * Postpones a mark that was made again during an unsuccessful reading, as if the delivery had come after it. Otherwise, deliveries that
   * arrive faster than answers would cause reads without a pause. Runs inside a transaction.
   * @param attempts the number of the attempt
   */
  async postpone(key: VendorKey, attempts: number, error: string | null): Promise<void> {
    const { account_id, vendorid } = key;
    this.#count.send({ account_id, vendorid, attempts, last_error: error });
    const due_ms = Math.ceil(await this.#counter.moment());
    this.#putOff.send({ account_id, vendorid, due_at: timestamp(this.#clock.now()), due_ms });
  }
}

/** After the clock was set back: moves all marks with it. */
export function moveMarks(db: Connection): Statement<By> {
  return statement(db)<By>`
    UPDATE dirty_vendors SET marked_at = strftime('%Y-%m-%d %H:%M:%f', marked_at, ${'by'}),
      due_at = strftime('%Y-%m-%d %H:%M:%f', due_at, ${'by'})`;
}
