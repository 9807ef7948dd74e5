/** The latest changes of an account, each from what to what. */
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';
import { readChanges } from '../reports/change-feed.ts';
import { fieldChanges } from '../reports/field-changes.ts';
import type { ChangeFigure } from './figures.ts';
import { ValueCache } from './value-cache.ts';

const latestShown = 12;

/** How many of the latest changes of all accounts are searched for those of one. */
const searched = 5_000;

interface Wanted {
  readonly accountId: string;
  readonly searched: number;
  readonly latestShown: number;
}

interface Latest {
  readonly seq: number;
  readonly vendorid: number;
  readonly vendor: string | null;
}

export class LatestChanges {
  readonly #sqlite: Sqlite;
  readonly #latest: Statement<Wanted, Latest>;
  readonly #cache = new ValueCache<Omit<ChangeFigure, 'vendor' | 'vendorid'> | undefined>();

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
    this.#latest = plainStatement(
      sqlite,
      `
      SELECT c.seq, c.vendorid, v.vendor_name AS vendor FROM (
        SELECT seq, account_id, vendorid FROM _vendor_versions NOT INDEXED
        WHERE account_id = :accountId AND seq > (SELECT max(seq) FROM _vendor_versions) - :searched
        ORDER BY seq DESC LIMIT :latestShown) AS c
      LEFT JOIN vendors AS v ON v.account_id = c.account_id AND v.vendorid = c.vendorid
      ORDER BY c.seq DESC`,
    );
  }

  /** Newest first. */
  of(accountId: string): ChangeFigure[] {
    const latest = this.#latest.all({ accountId, searched, latestShown }).map(withoutBlobs);
    const numbers = latest.map(({ seq }) => seq);
    const read = this.#cache.of(accountId, numbers, (seq) => this.#read(accountId, seq));
    return latest.flatMap(({ seq, vendorid, vendor }) => {
      const change = read.get(seq);
      return change ? [{ vendorid, vendor, ...change }] : [];
    });
  }

  #read(accountId: string, seq: number): Omit<ChangeFigure, 'vendor' | 'vendorid'> | undefined {
    const [change] = readChanges(this.#sqlite, { account: accountId, since: seq - 1, until: seq, limit: 1 });
    if (!change) return undefined;
    const { at, kind, source, vendorid } = change;
    const changes = fieldChanges(this.#sqlite, { account_id: accountId, vendorid, from: seq, to: seq });
    return { at, kind, source, changes };
  }
}
