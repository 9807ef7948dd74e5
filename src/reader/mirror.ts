/**
 * A mirror, opened to be read: by programs that build on it, beside a daemon that writes.
 *
 * The file is opened read-only, and one of another version is refused, because views and their columns belong to a version. A transaction is
 * held for a few rows at a time, so that no reader keeps the journal from shrinking.
 */
import { fileURLToPath } from 'node:url';
import { sleep, systemClock, systemRandom } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { cursorForm, isCursor, latestCursor, whyGone, type HistoryGone } from '../store/reports/feed-cursor.ts';
import { mirrorOptions, Reader } from '../store/reader.ts';
import { readTimeline, changePage, withValues } from '../store/reports/change-feed.ts';
import { userQuery } from '../store/sqlite/user-query.ts';
import { storedDetails, vendorDocument } from '../store/reports/vendor-detail.ts';
import { inState, vendorPage } from '../store/reports/vendor-list.ts';
import type { VendorKey } from '../store/sql/schema.ts';
import type { Query, Snapshot } from '../store/sql/statement.ts';
import {
  asReaderError,
  ReaderError,
  type ChangeFilter,
  type ChangePage,
  type Freshness,
  type Payable,
  type PayableFilter,
  type OwedSum,
  type QueryParameters,
  type QueryRow,
  type TimelineOptions,
  type VendorFilter,
  type VendorPage,
  type VendorWithTimeline,
  type ListedVendor,
} from './reader-records.ts';

/** Beside `src` and `dist` alike. */
const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Milliseconds between two attempts to open a locked file. */
const betweenTries = 20;

export interface OpenOptions {
  /** How long to wait while another program holds the file locked, in milliseconds; default 5,000. */
  readonly lockWait?: number | undefined;
}

/**
 * Opens the mirror at `path` to read it; nothing is ever written, and no other file is needed. Works beside a daemon. Reads one consistent
 * state at a time. If the file is replaced later, this is not noticed: open it again.
 * @throws ReaderError `database_unusable` where there is no mirror, `database_older` and `database_newer` where it is of another version,
 * `database_corrupt`, `database_locked`, `driver_unusable`.
 */
export async function openMirror(path: string, { lockWait = 5_000 }: OpenOptions = {}): Promise<Mirror> {
  const options = mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom, lockWait });
  // A reader that finds damage leaves no note of it: it may not even be allowed to.
  return new Mirror(await openWhenUnlocked({ ...options, onDistrust: undefined }));
}

async function openWhenUnlocked(options: Parameters<typeof Reader.open>[0]): Promise<Reader> {
  const deadline = systemClock.monotonic() + (options.lockWait ?? 0);
  for (;;) {
    try {
      const reader = await Reader.open(options);
      if (reader) return reader;
      throw new ReaderError('database_unusable', `The file ${options.path} does not exist.`, {
        hint: 'Check the path, or run `vendor-mirror sync`.',
      });
    } catch (error) {
      const isLocked = error instanceof MirrorError && error.code === 'database_locked';
      if (!isLocked || systemClock.monotonic() >= deadline) throw asReaderError(error);
      await sleep(systemClock, betweenTries);
    }
  }
}

/** Every method rejects with a `ReaderError`. */
export class Mirror {
  readonly #reader: Reader;
  #isClosed = false;

  /** @internal Use `openMirror`. */
  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** One page of the vendors that pass the filter, by account and number. */
  async vendors(filter: VendorFilter = {}): Promise<VendorPage> {
    const { account, search, state, presence, after, limit } = filter;
    const wanted = { account, search: search || undefined, ...inState(state, presence) };
    const place = after === undefined ? undefined : placeOf(after);
    const page = await this.#withReader((query) =>
      vendorPage(query, systemClock, { ...wanted, after: place, limit: rows(limit, 200) }),
    );
    return { ...page, next: page.next && `${page.next.account_id}:${page.next.vendorid}` };
  }

  /** Every vendor that passes the filter, read page by page. Each page is consistent in itself. */
  async *everyVendor(filter: Omit<VendorFilter, 'after'> = {}): AsyncGenerator<ListedVendor, void, undefined> {
    for (let after: string | null | undefined; after !== null;) {
      const page: VendorPage = await this.vendors({ ...filter, after });
      yield* page.vendors;
      after = page.next;
    }
  }

  /** One vendor with its latest changes; undefined if the mirror does not hold it. */
  async vendor(
    account: string,
    vendorid: number,
    options: TimelineOptions = {},
  ): Promise<VendorWithTimeline | undefined> {
    const key = { account_id: account, vendorid };
    const range = { before: options.before, limit: rows(options.limit, 50) };
    return this.#query(async (snapshot) => {
      const [detail] = await storedDetails(snapshot, vendorid, account);
      if (!detail) return undefined;
      const { timeline, older } = await readTimeline(snapshot, key, range);
      const vendor = vendorDocument(detail) as Omit<VendorWithTimeline, 'timeline' | 'older'>;
      return { ...vendor, timeline: await withValues(snapshot, timeline), older };
    });
  }

  /** What is owed, one row for each account, state of the vendors and currency: the view `owed`. */
  async owed(filter: PayableFilter = {}): Promise<readonly OwedSum[]> {
    return (await this.#owedIn('owed', 'account_id, state, currency', filter)) as readonly OwedSum[];
  }

  /** What is owed to whom, one row for each vendor that is not absent and currency: the view `payables`. */
  async payables(filter: PayableFilter = {}): Promise<readonly Payable[]> {
    return (await this.#owedIn('payables', 'account_id, vendorid, currency', filter)) as readonly Payable[];
  }

  #owedIn(view: string, order: string, { account, state, currency }: PayableFilter): Promise<unknown> {
    return this.query(
      `SELECT * FROM ${view}
       WHERE account_id = coalesce(:account, account_id) AND state = coalesce(:state, state)
         AND currency IS coalesce(:currency, currency)
       ORDER BY ${order}`,
      { account: account ?? null, state: state ?? null, currency: currency ?? null },
    );
  }

  /**
   * One page of the changes after a cursor, oldest first. Store the `cursor` of each page together with what you made of it, and go on
   * from it: nothing is missed, and each vendor's changes keep their order.
   * @throws ReaderError `history_gone` if the mirror was rebuilt or restored from a copy, or the changes were removed since: take
   * `latest` from it, read all vendors, and go on from there.
   */
  async changes({ since, account, vendorid, limit }: ChangeFilter = {}): Promise<ChangePage> {
    if (since !== undefined && !isCursor(since)) throw new ReaderError('usage', `\`since\` should be ${cursorForm}.`);
    const filter = { account, vendorid, since, limit: rows(limit, 200) };
    const found = await this.#withReader((query) => changePage(query, systemClock, filter));
    if ('reason' in found) throw historyGone(found);
    return found;
  }

  /** The latest cursor: everything before it is in the vendors themselves. */
  async latestCursor(): Promise<string> {
    return this.#query(latestCursor);
  }

  /** How fresh the mirror is, for each account: the view `freshness`. */
  async freshness(): Promise<readonly Freshness[]> {
    const found = await this.query('SELECT * FROM freshness ORDER BY account_id');
    return found.map((row) => ({
      ...(row as unknown as Freshness),
      callback_verified: row['callback_verified'] === null ? null : row['callback_verified'] === 1,
    }));
  }

  /**
   * Every row of one SELECT. Values come as SQLite holds them: truth values are 0 and 1, times are texts. It blocks the event loop for as
   * long as it takes; for long queries open a copy (`vendor-mirror export copy.db`) in a thread of its own.
   * @throws ReaderError `usage` where it is not one SELECT, two columns have one name, or the parameters do not fit.
   */
  async query(sql: string, parameters: QueryParameters = []): Promise<readonly QueryRow[]> {
    return this.#query((snapshot) => userQuery(snapshot, sql, parameters));
  }

  /** Closes the file. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    void this.#reader.close();
  }

  #query<T>(report: (snapshot: Snapshot) => T): Promise<T> {
    return this.#withReader((query) => query(report));
  }

  async #withReader<T>(read: (query: Query) => Promise<T>): Promise<T> {
    const query: Query = (report) => {
      if (this.#isClosed) throw new ReaderError('usage', 'The mirror is closed.');
      return this.#reader.query(report);
    };
    try {
      return await read(query);
    } catch (error) {
      throw asReaderError(error);
    }
  }
}

/** @throws ReaderError `usage` where it is not a number of rows. */
function rows(limit: number | undefined, usual: number): number {
  if (limit === undefined) return usual;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.readerPage) return limit;
  throw new ReaderError('usage', `\`limit\` should be a whole number from 1 to ${limits.readerPage}.`);
}

function placeOf(after: string): VendorKey {
  const [, account_id, vendorid] = /^(.{1,64}):(\d{1,16})$/.exec(after) ?? [];
  if (account_id !== undefined) return { account_id, vendorid: Number(vendorid) };
  throw new ReaderError('usage', '`after` should be the `next` of the previous page.');
}

function historyGone(gone: HistoryGone): ReaderError {
  const { oldest, latest } = gone;
  const hint = 'Note `latest`, read all vendors, and continue from it; or start at `oldest`.';
  return new ReaderError('history_gone', whyGone(gone), { hint, oldest, latest });
}
