/**
 * What is owed to the active vendors of an account now. All are added up at first and after each run; in between, only
 * changed vendors are subtracted and added, so that frequent requests are cheap.
 */
import { currencyTotals, wholeSum, type CurrencyTotal, type SplitSum } from '../reports/account-reports.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type OfAccount, type Statement } from '../sqlite/plain-statement.ts';

/** With more changed vendors than this, adding up all is cheaper. */
const mostChanged = 2_000;

type Since = OfAccount & { readonly after: number };

/** The state that totals belong to: the latest version, and what shows changes that make no version. */
interface State {
  readonly last: number;
  readonly run: number;
  readonly suspects: string;
}

interface Known extends State {
  readonly totals: ReadonlyMap<string, CurrencyTotal>;
}

interface Changed {
  readonly vendors: number;
  /** How many of their versions are not later than the one before. */
  readonly disordered: number;
}

export class OwedNow {
  readonly #count: (accountId: string) => CurrencyTotal[];
  readonly #state: Statement<OfAccount, State>;
  readonly #changed: Statement<Since, Changed>;
  readonly #difference: Statement<Since, SplitSum>;
  readonly #known = new Map<string, Known>();

  constructor(sqlite: Sqlite) {
    this.#count = currencyTotals(sqlite);
    this.#state = plainStatement(sqlite, state);
    this.#changed = plainStatement(sqlite, changed);
    this.#difference = plainStatement(sqlite, difference);
  }

  /** Runs inside a transaction. */
  of(accountId: string): CurrencyTotal[] {
    const now = this.#state.get({ accountId }) ?? { last: 0, run: 0, suspects: '' };
    const totals = this.#updated(accountId, now) ?? byName(this.#count(accountId));
    this.#known.set(accountId, { ...now, totals });
    return [...totals.values()];
  }

  /** The last totals, with what changed since; undefined where all must be added up. */
  #updated(accountId: string, now: State): ReadonlyMap<string, CurrencyTotal> | undefined {
    const known = this.#known.get(accountId);
    if (known?.run !== now.run || known.suspects !== now.suspects) return undefined;
    if (known.last === now.last) return known.totals;
    const since = { accountId, after: known.last };
    const { vendors, disordered } = this.#changed.get(since) ?? { vendors: 0, disordered: 0 };
    if (vendors > mostChanged || disordered > 0) return undefined;
    const totals = new Map(known.totals);
    for (const difference of this.#difference.all(since).map(wholeSum)) {
      const sum = added(totals.get(nameOf(difference)), difference);
      if (sum.amounts === 0) totals.delete(nameOf(sum));
      else totals.set(nameOf(sum), sum);
    }
    return totals;
  }
}

const nameOf = ({ code, kind }: CurrencyTotal): string => `${kind} ${code}`;

function byName(totals: readonly CurrencyTotal[]): Map<string, CurrencyTotal> {
  return new Map(totals.map((total) => [nameOf(total), total]));
}

function added(total: CurrencyTotal | undefined, difference: CurrencyTotal): CurrencyTotal {
  if (!total) return difference;
  return {
    ...total,
    minor: total.minor + difference.minor,
    amounts: total.amounts + difference.amounts,
    vendors: total.vendors + difference.vendors,
    unreadable: total.unreadable + difference.unreadable,
  };
}

/** A vendor becomes suspect, and present again, without a version. */
const state = `
  SELECT coalesce((SELECT max(seq) FROM _vendor_versions), 0) AS last,
    coalesce((SELECT id FROM runs WHERE account_id = :accountId AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1), 0) AS run,
    (SELECT count(*) || ' ' || total(vendorid) FROM vendors
      WHERE account_id = :accountId AND presence <> 'present' AND presence = 'suspect') AS suspects`;

const touched = `
  SELECT account_id, vendorid FROM _vendor_versions NOT INDEXED
  WHERE seq > :after AND account_id = :accountId GROUP BY account_id, vendorid`;

/** The amounts at the time of a version can be found only where versions are in order of time. */
const changed = `
  SELECT count(DISTINCT vendorid) AS vendors, total(at <= before) AS disordered FROM (
    SELECT v.vendorid, v.valid_from AS at, lag(v.valid_from) OVER (PARTITION BY v.vendorid ORDER BY v.seq) AS before
    FROM (${touched} LIMIT ${mostChanged + 1}) AS t
    JOIN _vendor_versions AS v ON v.account_id = t.account_id AND v.vendorid = t.vendorid)`;

/** CROSS JOIN, so that SQLite begins with the few changed vendors. */
const difference = `
  WITH touched AS MATERIALIZED (${touched}),
  old AS MATERIALIZED (
    SELECT t.account_id, t.vendorid, (
      SELECT max(v.seq) FROM _vendor_versions AS v
      WHERE v.account_id = t.account_id AND v.vendorid = t.vendorid AND v.seq <= :after) AS seq
    FROM touched AS t),
  spans AS MATERIALIZED (
    SELECT s.* FROM old CROSS JOIN _vendor_versions AS v ON v.seq = old.seq
    JOIN balance_spans AS s ON s.account_id = old.account_id AND s.vendorid = old.vendorid
      AND s.valid_from <= v.valid_from AND (s.valid_to IS NULL OR s.valid_to > v.valid_from)
    WHERE v.vis_state = 0 AND v.presence = 'present'),
  moved AS (
    SELECT 'outstanding' AS kind, code, outstanding_minor AS minor, -1 AS sign FROM spans WHERE outstanding IS NOT NULL
    UNION ALL
    SELECT 'overdue', code, overdue_minor, -1 FROM spans WHERE overdue IS NOT NULL
    UNION ALL
    SELECT b.kind, b.code, b.amount_minor, 1 FROM touched AS t
    CROSS JOIN vendors AS v ON v.account_id = t.account_id AND v.vendorid = t.vendorid AND v.vis_state = 0 AND v.presence = 'present'
    JOIN vendor_balances AS b ON b.account_id = t.account_id AND b.vendorid = t.vendorid)
  SELECT code, kind, sum(sign * (minor / 1000000000)) AS billions, sum(sign * (minor % 1000000000)) AS rest, sum(sign) AS amounts,
    sum(sign * coalesce(minor <> 0, 1)) AS vendors, sum(sign * (minor IS NULL)) AS unreadable
  FROM moved GROUP BY code, kind`;
