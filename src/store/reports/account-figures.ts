/** Computes the figures of accounts. Reads many rows, so it runs in a separate thread. */
import { inOrder } from '../../domain/concurrency.ts';
import { timestamp, type Clock } from '../../domain/clock.ts';
import { statement, Operations, type Connection, type None, type OfAccount } from '../sql/statement.ts';
import { withoutBlobs } from '../sqlite/blobs.ts';
import { fieldChanges, readChanges, type FieldChange } from './change-feed.ts';
import type {
  ChangeFigure,
  ContactFigure,
  CurrencyFigures,
  Figures,
  FoundFigure,
  GatewayFigure,
  HourFigures,
  TodayFigures,
} from './figures.ts';
import { largestPayables, OwedHistory, owedReport, type OwedReport, type Payables } from './owed.ts';

const hourMs = 3_600_000;
/** Two days and the current hour. */
const hoursDrawn = 49;
const latestFound = 30;
/** How many of the latest findings of all accounts are searched for those of one: balances, which are no misses, may be most of them. */
const findingsSearched = 20_000;

interface Owing {
  readonly owed: OwedReport;
  readonly payables: Payables;
}

const weekDays = 7;
const contactsShown = 30;

type Contact = Omit<ContactFigure, 'change'> & FieldChange;

type Since = OfAccount & { readonly since: string };

export class AccountFigures extends Operations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #history: OwedHistory;
  readonly #report = owedReport(this.db);
  readonly #payables = largestPayables(this.db);
  /** The last sums, until another connection writes. */
  readonly #owed = new Map<string, Owing & { readonly version: string | undefined }>();
  readonly #received = statement(this.db)<Since, { hour: string; deliveries: number }>`
    SELECT substr(received_at, 1, 13) AS hour, count(*) AS deliveries FROM deliveries
    WHERE account_id = ${'accountId'} AND received_at >= ${'since'} AND outcome <> 'ignored' GROUP BY 1`;
  readonly #missed = statement(this.db)<Since, Omit<HourFigures, 'deliveries'>>`
    SELECT substr(found_at, 1, 13) AS hour, sum(explained_at IS NULL) AS missed, sum(explained_at IS NOT NULL) AS late,
      max(round((julianday(explained_at) - julianday(found_at)) * 86400, 3)) AS "latestSeconds"
    FROM findings
    WHERE account_id = ${'accountId'} AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore')
      AND found_at >= ${'since'} GROUP BY 1`;
  readonly #versions = statement(this.db)<OfAccount & { after: number; since: string }, Versions>`
    SELECT count(*) FILTER (WHERE changed_fields = '[]') AS created, count(*) AS versions FROM (
      SELECT changed_fields FROM _vendor_versions NOT INDEXED
      WHERE account_id = ${'accountId'} AND seq > ${'after'} AND valid_from >= ${'since'}) AS today`;
  readonly #version = statement(this.db)<{ from: number }, { seq: number; valid_from: string }>`
    SELECT seq, valid_from FROM _vendor_versions WHERE seq >= ${'from'} ORDER BY seq LIMIT 1`;
  readonly #lastVersion = statement(this.db)<None, { seq: number | null }>`
    SELECT max(seq) AS seq FROM _vendor_versions`;
  readonly #found = statement(this.db)<OfAccount & { searched: number; latest: number }, FoundRow>`
    SELECT f.run_id AS "runId", f.found_at AS "at", f.kind, f.vendorid, v.vendor_name AS vendor, f.fields
    FROM findings f LEFT JOIN vendors v ON v.account_id = f.account_id AND v.vendorid = f.vendorid
    WHERE f.account_id = ${'accountId'} AND f.kind <> 'balance_only'
      AND f.id > (SELECT max(id) FROM findings) - +${'searched'}
    ORDER BY f.id DESC LIMIT +${'latest'}`;
  readonly #balances = statement(this.db)<Since, { found: number }>`
    SELECT count(*) AS found FROM findings
    WHERE account_id = ${'accountId'} AND kind = 'balance_only' AND found_at >= ${'since'}`;
  readonly #applied = statement(this.db)<OfAccount & { vendorid: number; runId: number }, { seq: number }>`
    SELECT seq FROM _vendor_versions
    WHERE account_id = ${'accountId'} AND vendorid = ${'vendorid'} AND run_id = ${'runId'} ORDER BY seq LIMIT 1`;
  readonly #latest: LatestChanges;
  readonly #fields = new ValueCache<readonly FieldChange[]>();
  readonly #contacts = statement(this.db)<OfAccount & { after: number; shown: number }, Contact>`
    SELECT seq, "at", learned_by AS source, user_id AS "user", vendorid, vendor_name AS vendor, field, "old", "new"
    FROM contact_changes WHERE account_id = ${'accountId'} AND seq > ${'after'} ORDER BY seq DESC LIMIT +${'shown'}`;
  readonly #gateways = statement(this.db)<OfAccount, GatewayFigure>`
    SELECT sgid, gateway_name AS name, first_seen_at AS since, removed_at AS removed
    FROM gateways WHERE account_id = ${'accountId'} ORDER BY removed_at IS NOT NULL, sgid LIMIT 50`;

  constructor(db: Connection, clock: Pick<Clock, 'now'>) {
    super(db);
    this.#clock = clock;
    this.#history = new OwedHistory(db);
    this.#latest = new LatestChanges(db);
  }

  async read(accountId: string): Promise<Figures> {
    const now = this.#clock.now();
    const { owed, payables } = await this.#owedNow(accountId);
    return {
      money: await this.#money(accountId, owed, now),
      owed,
      payables,
      contacts: await this.#contactsNow(accountId, now),
      hours: await this.#hours(accountId, now),
      today: await this.#today(accountId, now),
      changes: await this.#latest.of(accountId),
      found: await this.#foundNow(accountId),
      balancesFound:
        (await this.#balances.get({ accountId, since: timestamp(now - weekDays * 24 * hourMs) }))?.found ?? 0,
      gateways: (await this.#gateways.all({ accountId })).map(withoutBlobs),
    };
  }

  async #money(accountId: string, { rows }: OwedReport, now: number): Promise<CurrencyFigures[]> {
    const day = timestamp(now).slice(0, 10);
    const before = await this.#history.before(accountId, now);
    const active = new Map(rows.filter(({ state }) => state === 'active').map((row) => [row.currency, row]));
    return [...new Set([...active.keys(), ...before.keys()])].sort().map((code) => {
      const { vendors, outstanding, overdue } = active.get(code) ?? noneOwed;
      return {
        code,
        vendors,
        outstanding,
        overdue,
        days: [...(before.get(code) ?? []), { day, outstanding, overdue }],
      };
    });
  }

  async #owedNow(accountId: string): Promise<Owing> {
    const version = await this.db.version();
    const known = this.#owed.get(accountId);
    if (known && version !== undefined && known.version === version) return known;
    const owed = await this.#report(accountId);
    const owing = { version, owed, payables: await this.#payables(accountId, owed) };
    this.#owed.set(accountId, owing);
    return owing;
  }

  async #hours(accountId: string, now: number): Promise<HourFigures[]> {
    const names = Array.from({ length: hoursDrawn }, (_, index) =>
      timestamp(now - (hoursDrawn - 1 - index) * hourMs).slice(0, 13),
    );
    const since = `${names[0] ?? ''}:00:00.000`;
    const received = new Map((await this.#received.all({ accountId, since })).map((row) => [row.hour, row.deliveries]));
    const missed = new Map((await this.#missed.all({ accountId, since })).map((row) => [row.hour, row]));
    return names.map((hour) => {
      const { missed: count = 0, late = 0, latestSeconds = null } = missed.get(hour) ?? {};
      return { hour, deliveries: received.get(hour) ?? 0, missed: count, late, latestSeconds };
    });
  }

  async #today(accountId: string, now: number): Promise<TodayFigures> {
    const day = timestamp(now).slice(0, 10);
    const found = await this.#versions.get({ accountId, after: await this.#before(day), since: day });
    const { created, versions } = found ?? { created: 0, versions: 0 };
    return { day, created, changed: versions - created };
  }

  async #contactsNow(accountId: string, now: number): Promise<ContactFigure[]> {
    const after = await this.#before(timestamp(now - weekDays * 24 * hourMs));
    return (await this.#contacts.all({ accountId, after, shown: contactsShown })).map((row) => {
      const { seq, field, old, new: fresh, ...told } = withoutBlobs(row);
      return { ...told, change: { seq, field, old, new: fresh } };
    });
  }

  /** The latest findings but those of a balance alone, each with what its run changed of that vendor. */
  async #foundNow(accountId: string): Promise<FoundFigure[]> {
    const found = await this.#found.all({ accountId, searched: findingsSearched, latest: latestFound });
    const rows = await inOrder(found, async (row) => {
      const { runId, ...finding } = withoutBlobs(row);
      const { vendorid } = finding;
      const applied = vendorid === null ? undefined : await this.#applied.get({ accountId, vendorid, runId });
      return { finding, seq: applied?.seq };
    });
    const vendorOf = new Map(rows.map(({ finding, seq }) => [seq, finding.vendorid ?? 0]));
    const numbers = rows.flatMap(({ seq }) => seq ?? []);
    const changes = await this.#fields.of(accountId, numbers, (seq) =>
      fieldChanges(this.db, { account_id: accountId, vendorid: vendorOf.get(seq) ?? 0, from: seq, to: seq }),
    );
    return rows.map(({ finding, seq }) => ({ ...finding, changes: changes.get(seq ?? 0) ?? [] }));
  }

  /** A version number below all versions since that day or moment, found by binary search because versions are numbered in order of time. */
  async #before(since: string): Promise<number> {
    let [low, high] = [0, (await this.#lastVersion.get({}))?.seq ?? 0];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const version = await this.#version.get({ from: middle + 1 });
      if (version && version.valid_from < since) low = version.seq;
      else high = middle;
    }
    return low;
  }
}

const nothing = { value: 0, minor: 0n };
/** Of a currency in which something was owed before. */
const noneOwed = { vendors: 0, outstanding: nothing, overdue: nothing };

interface Versions {
  readonly created: number;
  readonly versions: number;
}

type FoundRow = Omit<FoundFigure, 'changes'> & { readonly runId: number };

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

/** The latest changes of an account, each from what to what. */
class LatestChanges extends Operations {
  readonly #latest = statement(this.db)<Wanted, Latest>`
    SELECT c.seq, c.vendorid, v.vendor_name AS vendor FROM (
      SELECT seq, account_id, vendorid FROM _vendor_versions NOT INDEXED
      WHERE account_id = ${'accountId'} AND seq > (SELECT max(seq) FROM _vendor_versions) - ${'searched'}
      ORDER BY seq DESC LIMIT +${'latestShown'}) AS c
    LEFT JOIN vendors AS v ON v.account_id = c.account_id AND v.vendorid = c.vendorid
    ORDER BY c.seq DESC`;
  readonly #cache = new ValueCache<Omit<ChangeFigure, 'vendor' | 'vendorid'> | undefined>();

  /** Newest first. */
  async of(accountId: string): Promise<ChangeFigure[]> {
    const latest = (await this.#latest.all({ accountId, searched, latestShown })).map(withoutBlobs);
    const numbers = latest.map(({ seq }) => seq);
    const read = await this.#cache.of(accountId, numbers, (seq) => this.#read(accountId, seq));
    return latest.flatMap(({ seq, vendorid, vendor }) => {
      const change = read.get(seq);
      return change ? [{ vendorid, vendor, ...change }] : [];
    });
  }

  async #read(accountId: string, seq: number): Promise<Omit<ChangeFigure, 'vendor' | 'vendorid'> | undefined> {
    const [change] = await readChanges(this.db, { account: accountId, since: seq - 1, until: seq, limit: 1 });
    if (!change) return undefined;
    const { at, kind, source, vendorid } = change;
    const changes = await fieldChanges(this.db, { account_id: accountId, vendorid, from: seq, to: seq });
    return { at, kind, source, changes };
  }
}

/** Caches values that never change, by their numbers: those of the last call for each account. */
class ValueCache<Value> {
  readonly #cached = new Map<string, ReadonlyMap<number, Value>>();

  /** The values of an account by their numbers. Values that are not requested this time are dropped. */
  async of(
    accountId: string,
    numbers: readonly number[],
    read: (number: number) => Promise<Value>,
  ): Promise<ReadonlyMap<number, Value>> {
    const cached = this.#cached.get(accountId);
    const values = new Map(
      await inOrder(numbers, async (number) => [number, cached?.get(number) ?? (await read(number))] as const),
    );
    this.#cached.set(accountId, values);
    return values;
  }
}
