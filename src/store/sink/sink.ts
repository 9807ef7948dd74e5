/**
 * Keeps a mirror's rows in a schema of somebody's PostgreSQL: vendors with balances and tax defaults, changes, freshness. Other mirrors may
 * fill the same schema, since every key begins with the mirror's id.
 *
 * What is there stands in the row of the mirror in `mirrors`, which each transaction locks first, and which changes with the rows that it
 * speaks of. So whatever is killed, and whichever answer to a commit is lost, the next round reads where to go on, and each change is written
 * once:
 *
 *   nothing, or not what is wanted, or of another history   a snapshot begins, with the end of the feed before it
 *   snapshot of vendors          the next ones in the order of their keys; what lies between and is not in the mirror is deleted
 *   snapshot of changes          the same in the order of the feed, up to where the snapshot began
 *   cursor                       the next page of the feed: its changes, and the vendors that it names as they are now
 *   end of the feed              changes that the mirror has pruned are deleted; freshness, as it was before the end was read
 *
 * What others alter or delete there is found by a comparison of all rows (`comparison.ts`), now and then, and written again.
 *
 * A snapshot is wanted again for another `definition`: another version of the tables or of what is derived from records, or something was
 * forgotten. Rows are overwritten only where they differ, so it leaves no gap for readers.
 *
 * One installation at a time writes the rows of a mirror, since a copy of it would write another history: the row names it, and until when it
 * may. It is renewed with each transaction; whoever has lost it writes nothing more. The mirror is read a page at a time, and is not held
 * while the network is awaited.
 */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { heldDerivation } from '../derivation.ts';
import { changePage } from '../reports/change-feed.ts';
import { cursorParts, latestCursor, removedThrough, resolveCursor } from '../reports/feed-cursor.ts';
import type { Migration } from '../sqlite/migrate.ts';
import type { VendorKey } from '../sql/schema.ts';
import { keyOf, keyText, statement, type Query, type Snapshot } from '../sql/statement.ts';
import { Comparison, pageSize, type Differences } from './comparison.ts';
import {
  changeRow,
  freshnessRows,
  keptChanges,
  vendorKeysAfter,
  vendorRows,
  type FreshnessRow,
  type VendorRows,
} from './mirror-rows.ts';
import { PostgresSession, type PostgresServer } from '../postgres/session.ts';
import { checkTables, prepareTables, putRows, sinkTables } from './tables.ts';

export interface SinkOptions {
  readonly server: PostgresServer;
  readonly query: Query;
  readonly clock: Pick<Clock, 'yield'>;
  readonly mirrorId: string;
  /** Host and file of this installation. */
  readonly keptBy: string;
  /** Drawn for this process. */
  readonly writer: string;
  readonly migrations: readonly Migration[];
}

interface Round {
  /** What is wanted there; where something else is, a snapshot begins. */
  readonly definition: string;
  /** For how long no other installation may write, in milliseconds. */
  readonly keptFor: number;
  /** Whether to look for what others altered there. */
  readonly compares?: boolean;
  readonly signal: AbortSignal;
}

export interface RoundReport {
  /** The place in the change feed up to which everything is there. */
  readonly cursor: string;
  /** Mirrors that this installation kept there before: their rows are left. */
  readonly earlier: readonly string[];
  /** What others had altered there, and is written again; undefined where that is nothing, or nobody looked. */
  readonly repaired: Differences | undefined;
}

/** A snapshot under way. */
interface Walk {
  readonly definition: string;
  /** The end of the feed before it began. */
  readonly cursor: string;
  /** The vendor up to which vendors were copied; null before the first. */
  readonly vendor: VendorKey | null;
  /** Once all vendors were: the place up to which changes were; null before the first. */
  readonly changes: { readonly after: string | null } | null;
}

interface State {
  readonly cursor: string | null;
  readonly definition: string | null;
  readonly walk: Walk | null;
  readonly removedThrough: number;
}

/** Every vendor comes after it. */
const firstVendor: VendorKey = { account_id: '', vendorid: 0 };
/** Numbers of changes of one transaction that deletes. */
const prunedAtOnce = 10_000;

export class Sink {
  readonly #options: SinkOptions;
  /** Whether this process has kept the rows: then another writer that took them over is not taken for an earlier process of ours. */
  #hasKept = false;

  constructor(options: SinkOptions) {
    this.#options = options;
  }

  /** Brings the rows to the present state of the mirror. @throws MirrorError `postgres_…`, and the signal's reason. */
  async update(round: Round): Promise<RoundReport> {
    const { server, migrations, clock } = this.#options;
    const session = await PostgresSession.open(server, round.signal);
    try {
      await prepareTables(session, server, migrations);
      const claimed = await session.atomically(() => this.#claim(session, round));
      const copied = await this.#follow(session, round, claimed.state);
      const repaired = round.compares ? await this.#repair(session, round, copied) : undefined;
      // Read before the end of the feed is: what is said to be fresh is there.
      const freshness = await freshnessRows(this.#options.query, clock);
      const state = await this.#follow(session, round, copied);
      await this.#finish(session, round, state, freshness);
      return { cursor: state.cursor ?? '', earlier: claimed.earlier, repaired };
    } finally {
      session.close();
    }
  }

  /** Lets another installation write at once. */
  async release(signal: AbortSignal): Promise<void> {
    if (!this.#hasKept) return;
    const { server, mirrorId, writer } = this.#options;
    const session = await PostgresSession.open(server, signal);
    try {
      await session.atomically(() =>
        session.run(
          'UPDATE mirrors SET kept_until = clock_timestamp() WHERE mirror_id = $1 AND writer = $2 AND kept_until > now()',
          [mirrorId, writer],
        ),
      );
    } finally {
      session.close();
    }
  }

  /** Goes on until the end of the feed. */
  async #follow(session: PostgresSession, round: Round, from: State): Promise<State> {
    let state = from;
    for (let next: State | undefined = state; next; next = await this.#step(session, round, state)) {
      state = next;
      await this.#options.clock.yield();
    }
    return state;
  }

  /** The next transaction; undefined where nothing is left to do but what ends a round. */
  async #step(session: PostgresSession, round: Round, state: State): Promise<State | undefined> {
    const { query, clock } = this.#options;
    const { walk, cursor } = state;
    if (walk) {
      const isValid = typeof (await query((db) => resolveCursor(db, walk.cursor))) === 'number';
      if (!isValid || walk.definition !== round.definition) return this.#begin(session, round, state);
      return walk.changes
        ? this.#walkChanges(session, round, state, walk)
        : this.#walkVendors(session, round, state, walk);
    }
    if (cursor === null || state.definition !== round.definition) return this.#begin(session, round, state);
    const page = await changePage(query, clock, { since: cursor, limit: pageSize }, round.signal);
    if ('reason' in page) return this.#begin(session, round, state);
    if (page.changes.length === 0) return undefined;
    const keys = new Map(page.changes.map((change) => [keyText(change), keyOf(change)]));
    const rows = await query((db) => vendorRows(db, [...keys.values()]));
    return this.#write(session, round, { ...state, cursor: page.cursor }, async () => {
      await this.#replaceVendors(session, [...keys.values()], rows);
      await putRows(session, sinkTables.changes, this.#options.mirrorId, page.changes.map(changeRow));
    });
  }

  async #begin(session: PostgresSession, round: Round, state: State): Promise<State> {
    const cursor = await this.#options.query(latestCursor);
    const walk = { definition: round.definition, cursor, vendor: null, changes: null };
    return this.#write(session, round, { ...state, walk }, () => Promise.resolve());
  }

  async #walkVendors(session: PostgresSession, round: Round, state: State, walk: Walk): Promise<State> {
    const after = walk.vendor ?? firstVendor;
    const rows = await this.#options.query(async (db) => vendorRows(db, await vendorKeysAfter(db, after, pageSize)));
    const keys = rows.vendors as unknown as readonly VendorKey[];
    const isLast = keys.length < pageSize;
    const end = keys.at(-1) ?? after;
    const vendor = { account_id: end.account_id, vendorid: end.vendorid };
    const next: Walk = isLast ? { ...walk, changes: { after: null } } : { ...walk, vendor };
    return this.#write(session, round, { ...state, walk: next }, async () => {
      const until = isLast ? '' : 'AND (account_id, vendorid) <= ($6::text, $7::bigint)';
      const limits = [after.account_id, after.vendorid, ...(isLast ? [] : [end.account_id, end.vendorid])];
      await session.run(
        `DELETE FROM vendors WHERE mirror_id = $1 AND (account_id, vendorid) > ($4::text, $5::bigint) ${until} AND NOT ${among('$2', '$3')}`,
        [...this.#keys(keys), ...limits],
      );
      await this.#putVendors(session, rows);
    });
  }

  async #walkChanges(session: PostgresSession, round: Round, state: State, walk: Walk): Promise<State> {
    const { query, clock, mirrorId } = this.#options;
    const since = walk.changes?.after ?? undefined;
    const page = await changePage(query, clock, { since, limit: pageSize }, round.signal);
    if ('reason' in page) return this.#begin(session, round, state);
    const end = cursorParts(walk.cursor)?.seq ?? 0;
    const from = since === undefined ? 0 : (cursorParts(since)?.seq ?? 0);
    const until = cursorParts(page.cursor)?.seq ?? 0;
    const isLast = page.changes.length === 0 || until >= end;
    const changes = page.changes.filter(({ seq }) => seq <= end);
    const next: State = isLast
      ? { cursor: walk.cursor, definition: walk.definition, walk: null, removedThrough: 0 }
      : { ...state, walk: { ...walk, changes: { after: page.cursor } } };
    return this.#write(session, round, next, async () => {
      await session.run(deleteChanges, [mirrorId, from, isLast ? null : until, changes.map(({ seq }) => seq)]);
      await putRows(session, sinkTables.changes, mirrorId, changes.map(changeRow));
    });
  }

  /** Compares all rows, at the end of the feed, and writes again what differs. */
  async #repair(session: PostgresSession, round: Round, state: State): Promise<Differences | undefined> {
    const { query, clock, mirrorId } = this.#options;
    const comparison = new Comparison(session, query, clock, mirrorId);
    for (let after: VendorKey | undefined = firstVendor; after;) {
      after = await this.#repairVendors(session, round, state, comparison, after);
      await clock.yield();
    }
    let since: string | undefined;
    do {
      since = await this.#repairChanges(session, round, state, comparison, since);
      await clock.yield();
    } while (since !== undefined);
    return comparison.found;
  }

  /** @returns where the next page begins; undefined after the last. */
  async #repairVendors(
    session: PostgresSession,
    round: Round,
    state: State,
    comparison: Comparison,
    after: VendorKey,
  ): Promise<VendorKey | undefined> {
    let next: VendorKey | undefined;
    await this.#write(session, round, state, async () => {
      const page = await comparison.vendors(after, placeOf(state));
      if (page.differing.length > 0) await this.#replaceVendors(session, page.differing, page.rows);
      ({ next } = page);
    });
    return next;
  }

  /** As `#repairVendors`. */
  async #repairChanges(
    session: PostgresSession,
    round: Round,
    state: State,
    comparison: Comparison,
    since: string | undefined,
  ): Promise<string | undefined> {
    const { mirrorId } = this.#options;
    let next: string | undefined;
    await this.#write(session, round, state, async () => {
      const { differing, surplus, ...page } = await comparison.changes(since, placeOf(state), round.signal);
      if (surplus.length > 0)
        await session.run('DELETE FROM changes WHERE mirror_id = $1 AND seq = ANY($2::bigint[])', [mirrorId, surplus]);
      await putRows(session, sinkTables.changes, mirrorId, differing.map(changeRow));
      ({ next } = page);
    });
    return next;
  }

  /** What ends a round: pruned changes, and how fresh the accounts are. */
  async #finish(session: PostgresSession, round: Round, state: State, rows: readonly FreshnessRow[]): Promise<void> {
    const { query, mirrorId } = this.#options;
    const removed = await query(removedThrough);
    if (removed > state.removedThrough) await this.#prune(session, round, state, removed);
    await this.#write(
      session,
      round,
      { ...state, removedThrough: Math.max(removed, state.removedThrough) },
      async () => {
        await putRows(session, sinkTables.freshness, mirrorId, rows);
        await session.run('DELETE FROM freshness WHERE mirror_id = $1 AND account_id <> ALL($2::text[])', [
          mirrorId,
          rows.map(({ account_id }) => account_id),
        ]);
        await session.run('UPDATE mirrors SET written_at = clock_timestamp() WHERE mirror_id = $1', [mirrorId]);
      },
    );
  }

  async #prune(session: PostgresSession, round: Round, state: State, removed: number): Promise<void> {
    const { query, mirrorId } = this.#options;
    for (let after = 0; after < removed;) {
      const from = after;
      const kept = await query((db) => keptChanges(db, { after: from, until: removed, limit: prunedAtOnce }));
      const until = kept.length < prunedAtOnce ? removed : (kept.at(-1) ?? removed);
      await this.#write(session, round, state, async () => {
        const [far] = await session.run<{ seq: number }>(
          'SELECT seq::float8 AS seq FROM changes WHERE mirror_id = $1 AND seq > $2 ORDER BY seq OFFSET $3 LIMIT 1',
          [mirrorId, from, prunedAtOnce],
        );
        after = Math.min(until, far?.seq ?? until);
        await session.run(deleteChanges, [mirrorId, from, after, kept]);
      });
    }
  }

  /** Takes the rows of the mirror for this process, unless another installation has them. Runs inside a transaction. */
  async #claim(session: PostgresSession, { keptFor }: Round): Promise<{ state: State; earlier: string[] }> {
    const { mirrorId, keptBy, writer } = this.#options;
    await session.run(
      `INSERT INTO mirrors (mirror_id, kept_by, writer, kept_until) VALUES ($1, $2, $3, clock_timestamp()) ON CONFLICT DO NOTHING`,
      [mirrorId, keptBy, writer],
    );
    const [row] = await session.run<MirrorRow>(
      `SELECT writer, kept_by, kept_until > clock_timestamp() AS is_kept, to_char(kept_until, 'YYYY-MM-DD HH24:MI:SS') AS kept_until,
         cursor, definition, snapshot, removed_through::float8 AS removed_through
       FROM mirrors WHERE mirror_id = $1 FOR UPDATE`,
      [mirrorId],
    );
    if (!row) throw this.#taken();
    const isOurs = row.writer === writer || (row.kept_by === keptBy && !this.#hasKept);
    if (!isOurs && row.is_kept) throw this.#taken(row);
    await session.run(
      `UPDATE mirrors SET kept_by = $2, writer = $3, kept_until = clock_timestamp() + $4 * interval '1 ms' WHERE mirror_id = $1`,
      [mirrorId, keptBy, writer, keptFor],
    );
    const others = await session.run<{ mirror_id: string }>(
      'SELECT mirror_id FROM mirrors WHERE kept_by = $2 AND mirror_id <> $1 AND kept_until < clock_timestamp() ORDER BY 1',
      [mirrorId, keptBy],
    );
    this.#hasKept = true;
    const walk = row.snapshot === null ? null : (JSON.parse(row.snapshot) as Walk);
    const { cursor, definition, removed_through } = row;
    const state = { cursor, definition, walk, removedThrough: removed_through };
    return { state, earlier: others.map(({ mirror_id }) => mirror_id) };
  }

  /** One transaction, which ends in this state. */
  async #write(session: PostgresSession, round: Round, state: State, work: () => Promise<unknown>): Promise<State> {
    const { mirrorId, writer } = this.#options;
    await session.atomically(async () => {
      const [row] = await session.run<{ writer: string }>(
        'SELECT writer FROM mirrors WHERE mirror_id = $1 FOR UPDATE',
        [mirrorId],
      );
      if (row?.writer !== writer) throw this.#taken();
      await work();
      await session.run(
        `UPDATE mirrors SET cursor = $2, definition = $3, snapshot = $4, removed_through = $5,
           kept_until = clock_timestamp() + $6 * interval '1 ms'
         WHERE mirror_id = $1`,
        [
          mirrorId,
          state.cursor,
          state.definition,
          state.walk && JSON.stringify(state.walk),
          state.removedThrough,
          round.keptFor,
        ],
      );
    });
    return state;
  }

  /** Makes these vendors those of the mirror: one that it does not hold is deleted. */
  async #replaceVendors(session: PostgresSession, keys: readonly VendorKey[], rows: VendorRows): Promise<void> {
    await this.#putVendors(session, rows);
    const there = new Set((rows.vendors as unknown as readonly VendorKey[]).map(keyText));
    const gone = keys.filter((key) => !there.has(keyText(key)));
    await session.run(`DELETE FROM vendors WHERE mirror_id = $1 AND ${among('$2', '$3')}`, this.#keys(gone));
  }

  async #putVendors(session: PostgresSession, { vendors, balances, taxDefaults }: VendorRows): Promise<void> {
    const { mirrorId } = this.#options;
    const keys = vendors as unknown as readonly VendorKey[];
    await putRows(session, sinkTables.vendors, mirrorId, vendors);
    for (const { name } of [sinkTables.balances, sinkTables.taxDefaults])
      await session.run(`DELETE FROM ${name} WHERE mirror_id = $1 AND ${among('$2', '$3')}`, this.#keys(keys));
    await putRows(session, sinkTables.balances, mirrorId, balances);
    await putRows(session, sinkTables.taxDefaults, mirrorId, taxDefaults);
  }

  #keys(keys: readonly VendorKey[]): unknown[] {
    return [this.#options.mirrorId, keys.map(({ account_id }) => account_id), keys.map(({ vendorid }) => vendorid)];
  }

  #taken(row?: Pick<MirrorRow, 'kept_by' | 'kept_until'>): MirrorError {
    const { server, mirrorId } = this.#options;
    const who = row ? `${row.kept_by} until ${row.kept_until}` : 'another installation';
    return new MirrorError(
      'postgres_taken',
      `${server.to.name}, schema ${server.schema}: the rows of the mirror ${mirrorId} are kept by ${who}.`,
    );
  }
}

/** Longer, nobody waits for an answer whether a server can be used. */
const lookLimit = 10_000;

export interface SinkLook {
  /** Whether the tables are there. */
  readonly isMade: boolean;
  /** Whether the rows of the mirror are whole there, and were compared. */
  readonly isCompared: boolean;
  /** What others altered there; undefined where that is nothing, or was not compared. */
  readonly found: Differences | undefined;
}

/** The mirror that a sink is compared with, as `SinkOptions` and `Round` have it. */
export interface Compared extends Pick<SinkOptions, 'query' | 'mirrorId'>, Pick<Round, 'definition'> {}

/**
 * Whether the tables are there, and hold the rows of the mirror; writes nothing.
 * @throws MirrorError `postgres_…` where they cannot be used; the signal's reason.
 */
export async function lookAtSink(
  server: PostgresServer,
  migrations: readonly Migration[],
  clock: Pick<Clock, 'timer' | 'yield'>,
  mirror: Compared | undefined,
  interrupted: AbortSignal,
): Promise<SinkLook> {
  const limit = new AbortController();
  const tooSlow = new MirrorError('postgres_failed', `${server.to.name} did not answer within ${lookLimit / 1_000} s.`);
  const cancel = clock.timer(lookLimit, () => limit.abort(tooSlow));
  const signal = AbortSignal.any([limit.signal, interrupted]);
  try {
    const session = await PostgresSession.open(server, signal);
    try {
      const isMade = await checkTables(session, server, migrations);
      cancel();
      if (!isMade || !mirror) return { isMade, isCompared: false, found: undefined };
      const comparison = new Comparison(session, mirror.query, clock, mirror.mirrorId);
      const isCompared = await compareAll(session, comparison, mirror, signal);
      return { isMade, isCompared, found: isCompared ? comparison.found : undefined };
    } finally {
      session.close();
    }
  } finally {
    cancel();
  }
}

/** @returns false where the rows are not whole there, or are just being copied anew. */
async function compareAll(
  session: PostgresSession,
  comparison: Comparison,
  { query, mirrorId, definition }: Compared,
  signal: AbortSignal,
): Promise<boolean> {
  /** One page, against one state of the sink. */
  const page = async <T>(compare: (seq: number) => Promise<T>): Promise<T | undefined> =>
    session.atomically(async () => {
      await session.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [row] = await session.run<Pick<MirrorRow, 'cursor' | 'definition' | 'snapshot'>>(
        'SELECT cursor, definition, snapshot FROM mirrors WHERE mirror_id = $1',
        [mirrorId],
      );
      const { cursor = null, snapshot } = row ?? {};
      if (cursor === null || snapshot !== null || row?.definition !== definition) return undefined;
      const seq = await query((db) => resolveCursor(db, cursor));
      return typeof seq === 'number' ? compare(seq) : undefined;
    });
  for (let after: VendorKey | undefined = firstVendor; after;) {
    const from: VendorKey = after;
    const compared = await page((seq) => comparison.vendors(from, seq));
    if (!compared) return false;
    after = compared.next;
  }
  for (let since: string | undefined, isLast = false; !isLast;) {
    const from: string | undefined = since;
    const compared = await page((seq) => comparison.changes(from, seq, signal));
    if (!compared) return false;
    since = compared.next;
    isLast = since === undefined;
  }
  return true;
}

/** The mirror of a file, for `lookAtSink`. @param path of the publication */
export function mirrorToCompare(query: Query, path: string, migrations: readonly Migration[]): Promise<Compared> {
  return query(async (db) => {
    const row = await statement(db)<{ path: string }, { mirror_id: string; generation: number }>`
      SELECT mirror_id, coalesce((SELECT file_ms FROM _publications WHERE path = ${'path'}), 0) AS generation
      FROM mirror_identity`.get({ path });
    const definition = await sinkDefinition(db, migrations, row?.generation ?? 0);
    return { query, mirrorId: row?.mirror_id ?? '', definition };
  });
}

/** What is wanted in a sink: another one is copied anew. @param generation begins anew whenever something is forgotten */
export async function sinkDefinition(
  db: Snapshot,
  migrations: readonly Migration[],
  generation: number,
): Promise<string> {
  return JSON.stringify([migrations.at(-1)?.number, await heldDerivation(db), generation]);
}

interface MirrorRow {
  readonly writer: string;
  readonly kept_by: string;
  readonly is_kept: boolean;
  readonly kept_until: string;
  readonly cursor: string | null;
  readonly definition: string | null;
  readonly snapshot: string | null;
  readonly removed_through: number;
}

/** The change up to which the feed was followed. */
function placeOf({ cursor }: State): number {
  return cursorParts(cursor ?? '')?.seq ?? 0;
}

/** Changes in a range, the end included, that are not among these. */
const deleteChanges = `
  DELETE FROM changes c WHERE mirror_id = $1 AND seq > $2 AND ($3::bigint IS NULL OR seq <= $3)
    AND NOT EXISTS (SELECT FROM unnest($4::bigint[]) AS kept (seq) WHERE kept.seq = c.seq)`;

/** Whether a vendor is among those of two arrays. */
function among(accounts: string, vendorids: string): string {
  return `(account_id, vendorid) IN (SELECT * FROM unnest(${accounts}::text[], ${vendorids}::bigint[]))`;
}
