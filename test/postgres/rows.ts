/** What a sink should hold, read from the mirror by other statements than the program's, and what it does hold. */
import { askPostgres } from '../support/postgres.ts';

type Row = Record<string, unknown>;

const tables: Readonly<Record<string, { readonly here: string; readonly there: string }>> = {
  vendors: {
    here: `SELECT account_id, vendorid, vendor_name, phone, city, note, created_at, updated_at, is_1099, vis_state, vis_state_source,
        CASE presence WHEN 'suspect' THEN 'present' ELSE presence END AS presence, first_seen_at, changed_at, source, raw
      FROM vendors ORDER BY account_id, vendorid`,
    there: `SELECT account_id, vendorid::int, vendor_name, phone, city, note, created_at, updated_at, is_1099::int, vis_state, vis_state_source,
        presence, to_char(first_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS first_seen_at,
        to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS changed_at, source, raw
      FROM vendors WHERE mirror_id = $1 ORDER BY account_id, vendorid`,
  },
  vendor_balances: {
    here: 'SELECT account_id, vendorid, kind, code, amount FROM vendor_balances ORDER BY 1, 2, 3, 4',
    there:
      'SELECT account_id, vendorid::int, kind, code, amount_text AS amount FROM vendor_balances WHERE mirror_id = $1 ORDER BY 1, 2, 3, 4',
  },
  vendor_tax_defaults: {
    here: 'SELECT account_id, vendorid, taxid, enabled, name, amount FROM vendor_tax_defaults ORDER BY 1, 2, 3',
    there: `SELECT account_id, vendorid::int, taxid::int, enabled::int, name, amount_text AS amount FROM vendor_tax_defaults
      WHERE mirror_id = $1 ORDER BY 1, 2, 3`,
  },
  changes: {
    here: 'SELECT seq, account_id, vendorid, valid_from AS at, changed_fields, vis_state, presence, source FROM vendor_versions ORDER BY seq',
    there: `SELECT seq::int, account_id, vendorid::int, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS at,
        changed_fields, vis_state, presence, source FROM changes WHERE mirror_id = $1 ORDER BY seq`,
  },
  freshness: {
    here: 'SELECT account_id, safe_as_of, callback_verified, open_suspects FROM freshness ORDER BY 1',
    there: `SELECT account_id, to_char(safe_as_of AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS safe_as_of,
        callback_verified::int, open_suspects::int FROM freshness WHERE mirror_id = $1 ORDER BY 1`,
  },
};

interface Mirror {
  query(sql: string): Row[];
}

/** The rows of the mirror, by table. */
export function rowsHere(mirror: Mirror): Record<string, Row[]> {
  return Object.fromEntries(
    Object.entries(tables).map(([table, { here }]) => [table, mirror.query(here).map((row) => ({ ...row }))]),
  );
}

/** Those of the sink. */
export async function rowsThere(address: string, schema: string, mirrorId: string): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {};
  for (const [table, { there }] of Object.entries(tables))
    rows[table] = await askPostgres(address, there.replace(`FROM ${table}`, `FROM "${schema}".${table}`), [mirrorId]);
  return rows;
}

export function mirrorIdOf(mirror: Mirror): string {
  return String(mirror.query('SELECT mirror_id FROM mirror_identity')[0]?.['mirror_id']);
}
