/** A mirror with a year behind it, filled by SQL alone. */
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { mirrorOptions } from '../../../src/store/reader.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';

/** Names in many scripts, with HTML, bidirectional marks, and characters that few programs draw well. */
const oddNames = [
  'Müller & Söhne GmbH',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  'مؤسسة النور للتجارة',
  'חברת אור בע״מ',
  '\u202egnp.exe\u202c Ltd',
  '株式会社さくら',
  '한빛 상사',
  'ООО «Ромашка»',
  'ร้านค้าไทย',
  'नमस्ते व्यापार',
  '👩‍👩‍👧‍👦 Family & Sons 🧾',
  'Z̸̢̛a̶͝l̷g̵o̴ Ltd',
  'W'.repeat(200),
];

/** Fills an account, in a new file or beside others: so many vendors, each with a currency, and as many changes over the last year. */
export async function fillYear(path: string, migrations: string, vendors: number, account = '6BApk'): Promise<void> {
  const database = await SqliteDatabase.open(
    mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom }),
  );
  const { sqlite } = database;
  const count = (most: number): string =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 WHERE ${most} > 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${most})`;
  const back = (days: string): string => `strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || (${days}) || ' days')`;
  const code = `CASE n % 3 WHEN 0 THEN 'EUR' WHEN 1 THEN 'USD' ELSE 'GBP' END`;
  const kinds = ['outstanding', 'overdue'];
  const amounts = [
    ...kinds.flatMap((kind) => [kind, `${kind}_minor`, `${kind}_units`, `${kind}_amount`]),
    'minor_digits',
    'state',
  ].join();
  const valued = (...cents: string[]): string =>
    [
      ...cents.flatMap((minor) => ["'1'", minor, minor, `(${minor}) / 100.0`]),
      '2',
      "iif(n % 50 = 17, 'archived', 'active')",
    ].join();
  const names = oddNames.map((name, index) => `WHEN ${index} THEN '${name.replaceAll("'", "''")}'`).join(' ');
  sqlite.exec(`
    BEGIN;
    INSERT INTO _accounts (account_id, added_at) VALUES ('${account}', ${back('365')});
    ${count(vendors)} INSERT INTO vendors
      (account_id, vendorid, vendor_name, primary_contact_email, vis_state, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
      SELECT '${account}', n, CASE n - 1 ${names} ELSE 'Vendor ' || n END, 'office' || n || '@example.com', iif(n % 50 = 17, 2, 0),
        ${back('300')}, ${back('n % 300')}, 'pull', 1, 0, '{}' FROM numbers;
    ${count(vendors)} INSERT INTO vendor_balances (account_id, vendorid, kind, code, amount, amount_minor)
      SELECT '${account}', n, 'outstanding', ${code}, (n % 900) || '.00', (n % 900) * 100 FROM numbers;
    ${count(vendors)} INSERT INTO vendor_balances (account_id, vendorid, kind, code, amount, amount_minor)
      SELECT '${account}', n, 'overdue', ${code}, (n % 90) || '.00', (n % 90) * 100 FROM numbers;
    ${count(vendors)} INSERT INTO _balance_spans (account_id, vendorid, code, valid_from, valid_to, ${amounts})
      SELECT '${account}', n, ${code}, ${back('360 - n % 60')}, ${back('n % 300')}, ${valued('100 * (n % 500)', '100 * (n % 300)')} FROM numbers;
    ${count(vendors)} INSERT INTO _balance_spans (account_id, vendorid, code, valid_from, ${amounts})
      SELECT '${account}', n, ${code}, ${back('n % 300')}, ${valued('(n % 900) * 100', '(n % 90) * 100')} FROM numbers;
    ${count(vendors)} INSERT INTO _vendor_versions
      (account_id, vendorid, valid_from, valid_to, vis_state, vis_state_source, presence, changed_fields, source, raw)
      SELECT '${account}', n, ${back('360')}, ${back('1')}, 0, 'reported', 'present', '[]', 'pull', '{"city":"Graz"}' FROM numbers;
    ${count(Math.ceil(vendors / 100))} INSERT INTO _vendor_versions
      (account_id, vendorid, valid_from, vis_state, vis_state_source, presence, changed_fields, source, raw)
      SELECT '${account}', n, ${back('0')}, 0, 'reported', 'present', '["city"]', 'delivery', '{"city":"Wien"}' FROM numbers;
    ${count(400)} INSERT INTO runs
      (account_id, kind, "trigger", started_at, finished_at, outcome, seen, safe_as_of, listed_as_of, proof, began_seq)
      SELECT '${account}', 'reconcile', 'schedule', ${back('(400 - n) * 0.0105')}, ${back('(400 - n) * 0.0105')}, 'complete', ${vendors},
        ${back('(400 - n) * 0.0105')}, ${back('(400 - n) * 0.0105')}, 'plain', 0 FROM numbers;
    ${count(Math.min(vendors, 20_000))} INSERT INTO deliveries (account_id, received_at, name, object_id, outcome, settled_at)
      SELECT '${account}', ${back(`14 - 14.0 * n / ${Math.min(vendors, 20_000)}`)}, 'bill_vendor.update', n, 'applied', ${back('0')} FROM numbers;
    ${count(Math.min(vendors, 500))} INSERT INTO findings (run_id, account_id, vendorid, kind, fields, found_at)
      SELECT n % 400 + 1, '${account}', n % ${Math.max(1, vendors)} + 1, iif(n % 4 = 0, 'missed_update', 'balance_only'), '["city"]',
        ${back(`14 - 14.0 * n / ${Math.min(vendors, 500)}`)} FROM numbers;
    INSERT INTO callbacks (account_id, callbackid, event, uri, verified, checked_at)
      VALUES ('${account}', 2001, 'bill_vendor', 'https://mirror.example.com/webhooks/${account}/', 1, ${back('0')});
    INSERT INTO gateways (account_id, sgid, id, gateway_name, first_seen_at) VALUES ('${account}', 1, 1, '<b>stripe</b>', ${back('9')});
    COMMIT;`);
  await database.close();
}
