/**
 * What is owed to the active vendors of an account now. All are counted at first and after each run; in between only what changed is taken
 * away and added, so that it costs no more to look often.
 */
import { currencyTotals, wholeSum, type CurrencyTotal, type HalvedSum } from '../reports/account-reports.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type Statement } from '../sqlite/plain-statement.ts';

/** Beyond so many changed vendors it is cheaper to count all. */
const mostChanged = 2_000;

interface OfAccount {
  readonly accountId: string;
}

type Since = OfAccount & { readonly after: number };

/** Where the mirror stands: `last` is its latest version, and the rest says whether anything moved that no version tells. */
interface Stand {
  readonly last: number;
  readonly run: number;
  readonly suspects: string;
}

interface Known extends Stand {
  readonly totals: ReadonlyMap<string, CurrencyTotal>;
}

interface Changed {
  readonly vendors: number;
  /** Versions of them that are no later than the one before. */
  readonly disordered: number;
}

export class OwedNow {
  readonly #count: (accountId: string) => CurrencyTotal[];
  readonly #stand: Statement<OfAccount, Stand>;
  readonly #changed: Statement<Since, Changed>;
  readonly #difference: Statement<Since, HalvedSum>;
  readonly #known = new Map<string, Known>();

  constructor(sqlite: Sqlite) {
    this.#count = currencyTotals(sqlite);
    this.#stand = plainStatement(sqlite, stand);
    this.#changed = plainStatement(sqlite, changed);
    this.#difference = plainStatement(sqlite, difference);
  }

  /** To be called inside a transaction, so that all of it is of one moment. */
  of(accountId: string): CurrencyTotal[] {
    const now = this.#stand.get({ accountId }) ?? { last: 0, run: 0, suspects: '' };
    const totals = this.#moved(accountId, now) ?? byName(this.#count(accountId));
    this.#known.set(accountId, { ...now, totals });
    return [...totals.values()];
  }

  /** What was known, and what changed since; undefined where all must be counted. */
  #moved(accountId: string, now: Stand): ReadonlyMap<string, CurrencyTotal> | undefined {
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
const stand = `
  SELECT coalesce((SELECT max(seq) FROM _vendor_versions), 0) AS last,
    coalesce((SELECT id FROM runs WHERE account_id = :accountId AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1), 0) AS run,
    (SELECT count(*) || ' ' || total(vendorid) FROM vendors
      WHERE account_id = :accountId AND presence <> 'present' AND presence = 'suspect') AS suspects`;

const touched = `
  SELECT account_id, vendorid FROM _vendor_versions NOT INDEXED
  WHERE seq > :after AND account_id = :accountId GROUP BY account_id, vendorid`;

/** The amounts at a version follow from moments only where those are in sequence. */
const changed = `
  SELECT count(DISTINCT vendorid) AS vendors, total(at <= before) AS disordered FROM (
    SELECT v.vendorid, v.valid_from AS at, lag(v.valid_from) OVER (PARTITION BY v.vendorid ORDER BY v.seq) AS before
    FROM (${touched} LIMIT ${mostChanged + 1}) AS t
    JOIN _vendor_versions AS v ON v.account_id = t.account_id AND v.vendorid = t.vendorid)`;

/** CROSS JOIN: from the few that changed to the many that are there. */
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
