/**
 * Requests for a sweep. A sweep that began late enough closes them, unless another came meanwhile, and settles the deliveries of vendors
 * that did not fit into the queue.
 */
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import type { SettledOutcome, Deliveries } from './deliveries.ts';
import type { Findings } from './findings.ts';
import type { Marks } from './marks.ts';
import type { By } from './reading-counter.ts';
import { Transacted, type Database } from './sql/database.ts';
import { statement, together, type Connection, type None, type Statement } from './sql/statement.ts';

/** An open request. Moments are mirror time, in milliseconds. */
export interface SweepRequest {
  readonly generation: number;
  /** The id of the last journalled delivery when this was read. */
  readonly lastDelivery: number;
  /** When the first and the last unanswered request came. */
  readonly askedMs: number;
  readonly lastMs: number;
  /** `askedMs` by our clock, in Unix ms. */
  readonly askedAt: number;
  /** Before this no sweep begins for it. */
  readonly restUntilMs: number;
}

/** What a complete sweep has answered. */
export interface SweepAnswer {
  /** The generation when the sweep began. */
  readonly generation: number;
  /** Requests up to this moment are answered: in mirror time, and as Unix ms. */
  readonly upToMs: number;
  readonly upTo: number;
  /** No sweep begins for a newer request before this mirror time. */
  readonly restUntilMs: number;
}

/** Which deliveries a sweep answers: none that came after it began, or so recently that lists may not show the change yet. */
interface AnsweredDeliveries {
  /** The id of the last of them. */
  readonly lastDelivery: number;
  /** When the youngest of them came, Unix ms; undefined where all are old enough. */
  readonly upTo: number | undefined;
}

/** The deliveries of a vendor that is not marked, up to the delivery `upTo`. */
interface UnmarkedVendor {
  readonly vendorid: number;
  readonly upTo: number;
}

/** The most rows of the journal that one transaction reads, because other writers wait for it. */
const batchSize = 500;

/**
 * Later than every timestamp of ours. A text of digits alone would be read as a number because of the column's type, and numbers come
 * before text.
 */
const everAfter = '9999-12-31';

interface OpenRow {
  account_id: string;
  generation: number;
  asked_at: string | null;
  asked_ms: number | null;
  last_ms: number;
  rest_until_ms: number;
}

function requestOf(row: OpenRow, lastDelivery: number): SweepRequest {
  const { generation, asked_at, asked_ms, last_ms, rest_until_ms } = row;
  return {
    ...{ generation, lastDelivery },
    askedAt: parseInstant(asked_at ?? '') ?? 0,
    askedMs: asked_ms ?? 0,
    lastMs: last_ms,
    restUntilMs: rest_until_ms,
  };
}

interface Unmarked {
  account_id: string;
  lastDelivery: number;
  upTo: string;
  limit: number;
}

export interface SweepRequestParts {
  readonly clock: Clock;
  readonly marks: Marks;
  readonly deliveries: Deliveries;
  readonly findings: Findings;
}

/** Sweeps that deliveries requested, because their vendor did not fit into the queue or they named a callback of ours. */
export class SweepRequests extends Transacted {
  readonly #marks: Marks;
  readonly #deliveries: Deliveries;
  readonly #findings: Findings;
  readonly #opened: (accountId: string) => Promise<SweepRequest | undefined>;
  readonly #open = statement(this.db)<{ accounts: string }, OpenRow>`
    SELECT account_id, generation, asked_at, asked_ms, last_ms, rest_until_ms FROM _sweep_requests
    WHERE account_id IN (SELECT value FROM json_each(${'accounts'})) AND asked_ms IS NOT NULL`;
  readonly #lastDelivery = statement(this.db)<None, { id: number | null }>`SELECT max(id) AS id FROM deliveries`;
  readonly #named = statement(this.db)<{ account_id: string }, { deliveries: number; last: string | null }>`
    SELECT callback_ids AS deliveries, callback_id_at AS last FROM _sweep_requests
    WHERE account_id = ${'account_id'}`;
  // The index contains the unsettled deliveries in order of arrival.
  readonly #unmarked = statement(this.db)<Unmarked, UnmarkedVendor>`
    SELECT vendorid, max(id) AS "upTo" FROM (
      SELECT d.object_id AS vendorid, d.id FROM deliveries d INDEXED BY deliveries_unsettled
      WHERE d.account_id = ${'account_id'} AND d.outcome IN ('pending', 'parked') AND d.outcome = 'pending'
        AND d.id <= ${'lastDelivery'} AND d.received_at <= ${'upTo'}
        AND NOT EXISTS (SELECT 1 FROM dirty_vendors q WHERE q.account_id = d.account_id AND q.vendorid = d.object_id)
      ORDER BY d.received_at LIMIT +${'limit'}) AS waiting
    GROUP BY vendorid`;
  readonly #advance = statement(this.db)<{
    account_id: string;
    asked_at: string;
    asked_ms: number;
    rest_until_ms: number;
  }>`
    UPDATE _sweep_requests SET asked_at = max(asked_at, ${'asked_at'}),
      asked_ms = max(asked_ms, ${'asked_ms'}), rest_until_ms = ${'rest_until_ms'}
    WHERE account_id = ${'account_id'}`;
  readonly #clear = statement(this.db)<{ account_id: string; generation: number; upToMs: number }>`
    UPDATE _sweep_requests SET asked_at = NULL, asked_ms = NULL
    WHERE account_id = ${'account_id'} AND generation = ${'generation'} AND last_ms <= ${'upToMs'}`;
  readonly #rest = statement(this.db)<{ account_id: string; rest_until_ms: number }>`
    UPDATE _sweep_requests SET rest_until_ms = ${'rest_until_ms'} WHERE account_id = ${'account_id'}`;

  constructor(database: Database, { clock, marks, deliveries, findings }: SweepRequestParts) {
    super(database, clock);
    this.#marks = marks;
    this.#deliveries = deliveries;
    this.#findings = findings;
    this.#opened = together(this.db, clock, (accounts) => this.#openOf(accounts));
  }

  /** The open request of an account; undefined where there is none. */
  sweepRequest(accountId: string): Promise<SweepRequest | undefined> {
    return this.#opened(accountId);
  }

  #openOf(accounts: readonly string[]): Promise<(SweepRequest | undefined)[]> {
    return this.database.read(async () => {
      const rows = await this.#open.all({ accounts: JSON.stringify(accounts) });
      const lastDelivery = rows.length === 0 ? 0 : ((await this.#lastDelivery.get({}))?.id ?? 0);
      const open = new Map(rows.map((row) => [row.account_id, requestOf(row, lastDelivery)]));
      return accounts.map((accountId) => open.get(accountId));
    });
  }

  /** How many deliveries had the id of a callback instead of a vendor, and when the last came; undefined where none did. */
  callbackIds(account_id: string): Promise<{ readonly deliveries: number; readonly last: string } | undefined> {
    return this.database.read(async () => {
      const { deliveries: count, last } = (await this.#named.get({ account_id })) ?? { deliveries: 0, last: null };
      return last === null ? undefined : { deliveries: count, last };
    });
  }

  /** Some of the vendors of these deliveries that did not fit into the queue. */
  unmarkedVendors(account_id: string, { lastDelivery, upTo }: AnsweredDeliveries): Promise<UnmarkedVendor[]> {
    const youngest = upTo === undefined ? everAfter : timestamp(upTo);
    return this.database.read(() => this.#unmarked.all({ account_id, lastDelivery, upTo: youngest, limit: batchSize }));
  }

  /**
   * Settles the deliveries of unmarked vendors, and marks `unseen` vendors while the queue has room.
   * @returns whether it had room for all.
   */
  settleUnmarked(
    account_id: string,
    answers: readonly (UnmarkedVendor & { readonly outcome: SettledOutcome | 'unseen' })[],
  ): Promise<boolean> {
    return this.database.write(async () => {
      const now = this.clock.now();
      const hasRoom = this.#deliveries.beginRoomCheck();
      let room = true;
      for (const { vendorid, upTo, outcome } of answers) {
        const key = { account_id, vendorid };
        if (outcome === 'unseen') {
          if (await hasRoom(key)) await this.#marks.add([key], 'delivery', 0);
          else room = false;
          continue;
        }
        // They announce late what the sweep found.
        await this.#findings.explainBy(
          key,
          (await this.#deliveries.open(key)).filter(({ id }) => id <= upTo),
        );
        this.#deliveries.settle(key, upTo, outcome, now);
      }
      return room;
    });
  }

  /** Closes the request; where a newer one came, records up to when it is answered. */
  finishSweepRequest(account_id: string, { generation, upToMs, upTo, restUntilMs }: SweepAnswer): Promise<void> {
    return this.database.write(() => {
      this.#advance.send({ account_id, asked_at: timestamp(upTo), asked_ms: upToMs, rest_until_ms: restUntilMs });
      this.#clear.send({ account_id, generation, upToMs });
    });
  }

  /** Postpones the next requested sweep to that moment of mirror time. */
  postponeSweepRequest(account_id: string, restUntilMs: number): Promise<void> {
    return this.database.write(() => this.#rest.send({ account_id, rest_until_ms: restUntilMs }));
  }
}

/** After the clock was set back: moves all open requests with it. */
export function moveSweepRequests(db: Connection): Statement<By> {
  return statement(db)<By>`
    UPDATE _sweep_requests SET asked_at = strftime('%Y-%m-%d %H:%M:%f', asked_at, ${'by'})
    WHERE asked_at IS NOT NULL`;
}
