/** Spans of balances in older files are divided where the state of their vendor changed, so that what was owed on a day is not restated. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask, migrations, openDatabase, temporaryFolder } from '../../../support/mirror-file.ts';

it('L77 spans of older files get the states that their vendor had, and the sums of all days stay', async () => {
  const older = join(temporaryFolder(), 'migrations');
  mkdirSync(join(older, 'mirror'), { recursive: true });
  for (const name of readdirSync(join(migrations, 'mirror')))
    if (name.endsWith('.sql') && name < '0040') cpSync(join(migrations, 'mirror', name), join(older, 'mirror', name));
  const path = join(temporaryFolder(), 'vendors.db');
  const { sqlite } = await openDatabase(path, older);
  const at = (day: number): string => `2026-11-${String(day).padStart(2, '0')} 12:00:00.000`;
  const addVersion = sqlite.prepare(
    `INSERT INTO _vendor_versions (account_id, vendorid, valid_from, valid_to, vis_state, vis_state_source, presence, changed_fields, source, raw)
     VALUES ('6BApk', ?, ?, ?, ?, 'reported', ?, '[]', 'pull', '{}')`,
  );
  const addSpan = sqlite.prepare(
    `INSERT INTO balance_spans (account_id, vendorid, code, valid_from, valid_to, outstanding, outstanding_amount, outstanding_units,
       overdue_amount, overdue_units, minor_digits)
     VALUES ('6BApk', ?, ?, ?, ?, 'n', ?, ?, 0, 0, 2)`,
  );
  const versions: readonly (readonly [
    vendorid: number,
    from: number,
    to: number | null,
    state: number | null,
    presence: string,
  ])[] = [
    [1, 1, 2, 0, 'present'],
    [1, 2, 5, 0, 'present'],
    [1, 5, 8, 2, 'present'],
    [1, 8, 10, 0, 'present'],
    [1, 10, 11, 1, 'gone'],
    [1, 11, null, 1, 'suspect'],
    // Its earlier versions were removed with age.
    [2, 6, null, 2, 'present'],
    [3, 1, null, null, 'present'],
  ];
  for (const [vendorid, from, to, state, presence] of versions)
    addVersion.run(vendorid, at(from), to && at(to), state, presence);
  const spans: readonly (readonly [vendorid: number, code: string, from: number, to: number | null, cents: number])[] =
    [
      [1, 'EUR', 1, 4, 100],
      [1, 'EUR', 4, 9, 200],
      [1, 'EUR', 9, null, 300],
      [1, 'USD', 1, null, 50],
      [2, 'EUR', 1, null, 7],
      [3, 'EUR', 1, null, 11],
    ];
  for (const [vendorid, code, from, to, cents] of spans)
    addSpan.run(vendorid, code, at(from), to && at(to), cents / 100, cents);
  sqlite.close();

  await (await openDatabase(path)).close();
  const found = ask<{ vendorid: number; code: string; from: number; to: number | null; cents: number; state: string }>(
    path,
    `SELECT vendorid, code, CAST(substr(valid_from, 9, 2) AS INTEGER) AS "from", CAST(substr(valid_to, 9, 2) AS INTEGER) AS "to",
       outstanding_units AS cents, state FROM _balance_spans ORDER BY vendorid, code, valid_from`,
  );
  expect(found.map((span) => Object.values(span))).toEqual([
    [1, 'EUR', 1, 4, 100, 'active'],
    [1, 'EUR', 4, 5, 200, 'active'],
    [1, 'EUR', 5, 8, 200, 'archived'],
    [1, 'EUR', 8, 9, 200, 'active'],
    [1, 'EUR', 9, 10, 300, 'active'],
    [1, 'EUR', 10, 11, 300, null],
    [1, 'EUR', 11, null, 300, 'deleted'],
    [1, 'USD', 1, 5, 50, 'active'],
    [1, 'USD', 5, 8, 50, 'archived'],
    [1, 'USD', 8, 10, 50, 'active'],
    [1, 'USD', 10, 11, 50, null],
    [1, 'USD', 11, null, 50, 'deleted'],
    [2, 'EUR', 1, null, 7, 'archived'],
    [3, 'EUR', 1, null, 11, 'unknown'],
  ]);
  const sums = ask<{ day: string; cents: number }>(
    path,
    `SELECT day, sum(outstanding_minor) AS cents FROM owed_by_day WHERE currency = 'EUR' AND day <= '2026-11-12' GROUP BY day ORDER BY day`,
  );
  expect(sums.map(({ cents }) => cents)).toEqual([118, 118, 118, 218, 218, 218, 218, 218, 318, 18, 318, 318]);
});
