/** Random rows of a mirror, as statements that both engines run: records with odd JSON, spans, deliveries, runs and findings, in any order. */
import fc from 'fast-check';

/** One statement; its values are bound. */
export interface Write {
  readonly sql: string;
  readonly values: readonly (string | number | bigint | null)[];
}

type Value = Write['values'][number];

const account = fc.constantFrom('one', 'Zwölf');
const vendorid = fc.integer({ min: 1, max: 4 });
const none = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { freq: 3 });

/** Around midnight more often than at other times: there, days of time zones differ. */
const moment = fc
  .record({
    day: fc.integer({ min: -2, max: 2 }),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 86_399_999 }),
      fc.constantFrom(0, 1, 999, 3_599_999, 68_400_000, 86_399_999),
    ),
  })
  .map(({ day, ms }) => momentText(Date.UTC(2026, 10, 20 + day) + ms));

function momentText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, -1);
}

/** Strings of JSON: what no text of PostgreSQL can hold, what looks like it, and what it could be taken for. */
const string = fc.constantFrom(
  ...['""', '"Huber"', '"é 😀"', String.raw`"\u00e9"`, String.raw`"\ud83d\ude00"`, String.raw`"\n\t\/"`],
  ...[
    String.raw`"a\u0000b"`,
    String.raw`"a\ud800b"`,
    String.raw`"\uDC00"`,
    String.raw`"\ud83d\ud83d\ude00\u0000\u0000"`,
  ],
  ...[
    String.raw`"\\u0000"`,
    String.raw`"\\\u0000"`,
    String.raw`"\\\\ud800"`,
    String.raw`"\\P0000\\P"`,
    String.raw`"\"q\""`,
  ],
  ...['" a  : b "', '"true"', '"12.50"', '"2026-11-20 10:00:00"'],
);
const number = fc.constantFrom(
  '0',
  '1',
  '-0',
  '7',
  '1.50',
  '-2.5e-3',
  '1e3',
  '12345678901234567890',
  '9007199254740993',
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t');
const key = fc.constantFrom('"amount"', '"code"', '"a"', '"odd : key"', String.raw`"q\"k"`);

const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(string, number, fc.constantFrom('true', 'false', 'null')),
    tie('list'),
    tie('object'),
  ),
  list: fc.tuple(fc.array(tie('json'), { maxLength: 3 }), space).map(([all, gap]) => `[${gap}${all.join(`${gap},`)}]`),
  object: fc
    .tuple(fc.uniqueArray(fc.tuple(key, tie('json')), { maxLength: 3, selector: ([name]) => name }), space)
    .map(([all, gap]) => `{${gap}${all.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`,${gap}`)}${gap}}`),
}));

const balance = fc.oneof(
  fc
    .array(fc.tuple(fc.constantFrom('"10.00"', '"-3.5"', '7', 'null'), fc.constantFrom('"USD"', '"EUR"', 'null')), {
      maxLength: 3,
    })
    .map((all) => `[${all.map(([amount, code]) => `{"amount":{"amount":${amount},"code":${code}}}`).join()}]`),
  json,
);
const flag = fc.oneof(fc.constantFrom('true', 'false', '0', '1', '2', 'null', '"ja"'), json);

/** A record; a key may come twice. */
const record = fc
  .tuple(
    space,
    fc.array(
      fc.oneof(
        fc.tuple(fc.constantFrom('vendor_name', 'phone', 'note', 'custom', 'odd key', 'tax_defaults'), json),
        fc.tuple(fc.constant('is_1099'), flag),
        fc.tuple(fc.constantFrom('outstanding_balance', 'overdue_balance'), balance),
      ),
      { maxLength: 8 },
    ),
  )
  .map(([gap, all]) => `{${gap}${all.map(([name, value]) => `"${name}":${gap}${value}`).join(`,${gap}`)}${gap}}`);

const changedFields = fc
  .subarray([
    ...[
      'vendor_name',
      'phone',
      'note',
      'custom',
      'odd key',
      'tax_defaults',
      'is_1099',
      'outstanding_balance',
      'overdue_balance',
    ],
    ...['updated_at', 'presence', 'vis_state', 'quoted"name', ''],
  ])
  .map((names) => JSON.stringify(names));

function insert(table: string, rows: readonly Readonly<Record<string, Value>>[], after = ''): Write {
  const names = Object.keys(rows[0]!);
  const places = `(${names.map(() => '?').join()})`;
  return {
    sql: `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join()}) VALUES ${rows.map(() => places).join()}${after}`,
    values: rows.flatMap((row) => names.map((name) => row[name]!)),
  };
}

const state = fc.constantFrom(0, 0, 1, 2, null);
const presence = fc.constantFrom('present', 'present', 'suspect', 'missing', 'gone');

const vendor = fc
  .record({
    account_id: account,
    vendorid,
    vendor_name: none(fc.constantFrom('Huber', 'Ünal', '')),
    phone: none(fc.constantFrom('1', '+49')),
    created_at: none(fc.constantFrom('2020-10-06 14:20:20')),
    is_1099: fc.constantFrom(0, 1, 1, null),
    vis_state: state,
    presence,
    changed_at: moment,
    raw: record,
    unreadable_fields: fc.constantFrom(null, null, '["outstanding_balance"]', '["website"]'),
    details: none(moment),
    fields: changedFields,
    delivery_id: none(fc.integer({ min: 1, max: 40 })),
    source: fc.constantFrom('pull', 'delivery', 'reconcile', 'write'),
  })
  .map(({ details, fields, delivery_id, ...told }): Write[] => {
    const { account_id, vendorid: id, vis_state, presence: seen, changed_at, source } = told;
    const key = [account_id, id] as const;
    const row = {
      ...told,
      ...{ first_seen_at: changed_at, read_seq: 1, held_since_ms: 0, details_at: details },
      detail_seq: details === null ? null : 1,
    };
    const shown = {
      account_id,
      vendorid: id,
      valid_from: changed_at,
      vis_state,
      vis_state_source: 'reported',
      presence: seen,
    };
    return [
      {
        sql: `UPDATE _vendor_versions SET valid_to = ?, raw = (SELECT v.raw FROM vendors v WHERE v.account_id = ? AND v.vendorid = ?)
          WHERE account_id = ? AND vendorid = ? AND raw IS NULL`,
        values: [changed_at, ...key, ...key],
      },
      { sql: 'DELETE FROM vendors WHERE account_id = ? AND vendorid = ?', values: key },
      insert('vendors', [row]),
      insert('_vendor_versions', [{ ...shown, changed_fields: fields, source, delivery_id, raw: null }]),
    ];
  });

const pruned = fc
  .tuple(fc.integer({ min: 2, max: 9 }), fc.boolean())
  .map(([share, isWhole]): Write[] => [
    { sql: `DELETE FROM _vendor_versions WHERE seq % ? = 1${isWhole ? '' : ' AND raw IS NOT NULL'}`, values: [share] },
  ]);

const amount = fc.oneof(
  fc.integer({ min: -100_000, max: 5_000_000 }).map(BigInt),
  fc.constantFrom(0n, 9_007_199_254_740_991n, 9_223_372_036_854_775_807n, -9_000_000_000_000_000_000n),
  fc.constant('none' as const),
  fc.constant('in parts' as const),
);

const span = fc
  .record({
    account_id: account,
    vendorid,
    code: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD'),
    from: moment,
    days: none(fc.integer({ min: 0, max: 9 })),
    outstanding: amount,
    overdue: amount,
    state: fc.constantFrom('active', 'active', 'archived', 'unknown', null),
  })
  .map(({ from, days, outstanding, overdue, ...key }): Write[] => {
    const digits = key.code === 'JPY' ? 0 : key.code === 'KWD' ? 3 : 2;
    const columns = (name: string, of: typeof outstanding): Record<string, Value> => {
      const units = typeof of === 'bigint' ? of : null;
      const number = units !== null ? Number(units) / 10 ** digits : of === 'none' ? null : 12.34567;
      return { [name]: String(number), [`${name}_amount`]: number, [`${name}_units`]: units };
    };
    const until = days === null ? null : momentText(Date.parse(`${from.replace(' ', 'T')}Z`) + days * 43_200_000);
    return [
      insert('_balance_spans', [
        {
          ...{ ...key, valid_from: from, valid_to: until, minor_digits: digits },
          ...{ ...columns('outstanding', outstanding), ...columns('overdue', overdue) },
        },
      ]),
    ];
  });

/** A balance from the day after tomorrow on. */
export function balanceToCome(): Write {
  const amounts = {
    outstanding_amount: 5,
    outstanding_units: 500,
    overdue_amount: 0,
    overdue_units: 0,
    minor_digits: 2,
  };
  const key = { account_id: 'one', vendorid: 9, code: 'USD', state: 'active' };
  return insert('_balance_spans', [{ ...key, valid_from: momentText(Date.now() + 2 * 86_400_000), ...amounts }]);
}

const outcome = fc.constantFrom('pending', 'applied', 'unchanged', 'not_found', 'ignored', 'parked');
const deliveries = fc
  .array(
    fc.record({
      ...{
        account_id: account,
        received_at: moment,
        name: fc.constantFrom('bill_vendor.update', 'bill_vendor.create'),
      },
      ...{ object_id: none(vendorid), user_id: none(fc.integer({ min: 1, max: 3 })), outcome },
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((rows): Write[] => [insert('deliveries', rows)]);

const settled = fc
  .record({ outcome, at: moment, share: fc.integer({ min: 1, max: 5 }) })
  .map(({ outcome: to, at, share }): Write[] => [
    { sql: 'UPDATE deliveries SET outcome = ?, settled_at = ? WHERE id % ? = 0', values: [to, at, share] },
  ]);

const run = fc
  .record({
    account_id: account,
    kind: fc.constantFrom('pull', 'reconcile', 'verify'),
    started_at: moment,
    outcome: fc.constantFrom('running', 'complete', 'complete', 'failed'),
    finished_at: none(moment),
    safe_as_of: none(moment),
    listed_as_of: none(moment),
    list_moved: fc.constantFrom(0, 1, null),
  })
  .map((row): Write[] => [insert('runs', [{ id: 0, ...row, began_seq: 0, trigger: 'schedule' }])]);

/** Of one vendor, or of several. */
const found = fc
  .record({
    key: fc.record({ run_id: fc.integer({ min: 1, max: 30 }), account_id: account, vendorid: none(vendorid) }),
    rows: fc.array(
      fc.record({
        vendorid: fc.oneof(fc.constant(undefined), none(vendorid)),
        kind: fc.constantFrom('missed_create', 'missed_update', 'missed_delete', 'in_flight', 'unreadable'),
        found_at: moment,
        explained_at: none(moment),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ key: told, rows }): Write[] => [
    insert(
      'findings',
      rows.map(({ vendorid: other, ...row }) => ({
        ...{ ...told, ...(other !== undefined && { vendorid: other }) },
        ...{ ...row, fields: '[]' },
      })),
    ),
  ]);

const recounted = fc
  .record({
    account_id: account,
    vendorid,
    explained_at: none(moment),
    kind: fc.constantFrom(null, null, 'missed_update', 'in_flight'),
  })
  .map(({ explained_at, kind, ...key }): Write[] => [
    {
      sql: `UPDATE findings SET explained_at = ?${kind === null ? '' : `, kind = '${kind}'`} WHERE account_id = ? AND vendorid = ?`,
      values: [explained_at, ...Object.values(key)],
    },
  ]);

const others = fc
  .oneof(
    fc
      .record({ account_id: account, added_at: moment, not_served_since: none(moment), paused_since: none(moment) })
      .map((row) => insert('_accounts', [row], ' ON CONFLICT DO NOTHING')),
    fc
      .record({ account_id: account, callbackid: vendorid, verified: fc.constantFrom(0, 1), checked_at: moment })
      .map((row) =>
        insert('callbacks', [{ ...row, event: 'all', uri: 'https://example.com' }], ' ON CONFLICT DO NOTHING'),
      ),
    fc
      .record({ account_id: account, vendorid, marked_at: moment, due_at: none(moment) })
      .map((row) => insert('dirty_vendors', [{ ...row, generation: 1, reason: 'asked' }], ' ON CONFLICT DO NOTHING')),
    fc
      .record({ account_id: account, asked_at: none(moment) })
      .map((row) => insert('_sweep_requests', [{ ...row, generation: 1, last_ms: 0 }], ' ON CONFLICT DO NOTHING')),
    fc
      .record({ account_id: account, vendorid, since: moment })
      .map((row) => insert('undecided_vendors', [{ ...row, code: 'not_found', error: '' }], ' ON CONFLICT DO NOTHING')),
  )
  .map((write): Write[] => [write]);

/** A vendor with one change. */
export const oneChange: readonly Write[] = [
  insert('vendors', [
    {
      ...{
        account_id: 'one',
        vendorid: 1,
        first_seen_at: '2026-11-20 10:00:00.000',
        changed_at: '2026-11-20 10:00:00.000',
      },
      ...{ source: 'pull', read_seq: 1, held_since_ms: 0 },
      raw: '{"outstanding_balance":[{"amount":{"amount":"7.50","code":"EUR"}}]}',
    },
  ]),
  insert('_vendor_versions', [
    {
      ...{ account_id: 'one', vendorid: 1, valid_from: '2026-11-20 10:00:00.000', vis_state_source: 'reported' },
      ...{ presence: 'present', changed_fields: '["outstanding_balance"]', source: 'pull' },
    },
  ]),
].map(({ sql, values }) => {
  let place = 0;
  return { sql: sql.replaceAll('?', () => `$${++place}`), values };
});

export interface History {
  readonly writes: readonly Write[];
}

/** What is written to a new mirror, one after the other. */
export const history: fc.Arbitrary<History> = fc
  .array(
    fc.oneof(
      { arbitrary: vendor, weight: 6 },
      { arbitrary: fc.oneof(span, deliveries, settled, run, found, recounted, others), weight: 20 },
      { arbitrary: pruned, weight: 1 },
    ),
    { minLength: 300, maxLength: 600, size: 'max' },
  )
  .map((steps) => {
    let runs = 0;
    const writes = steps
      .flat()
      .map((write) =>
        write.sql.startsWith('INSERT INTO runs') ? { ...write, values: [++runs, ...write.values.slice(1)] } : write,
      );
    // The seed says it all.
    return { writes, [fc.toStringMethod]: () => `${writes.length} statements` };
  });
