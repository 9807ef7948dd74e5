import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  balance,
  otherConnection,
  run,
  span,
  vendor,
  version,
  type Row,
  type Rows,
} from '../../support/mirror-file.ts';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const rows: Rows = {
  _accounts: [{ account_id: '6BApk', added_at: '2026-11-20 09:00:00.000' }],
  vendors: [
    vendor(11, {
      vendor_name: 'Müller & Söhne',
      account_number: '',
      primary_contact_email: 'info@mueller.example',
      city: 'Köln',
      country: 'Germany',
      currency_code: 'EUR',
      language: 'de',
      is_1099: 1,
      note: 'two\nlines',
      created_at: '2020-10-09 15:25:05',
      updated_at: '2026-11-20 08:59:00',
      unknown_fields: '{"tier":"\\"gold\\""}',
    }),
    vendor(12, { vendor_name: '\u001b[31mRed\u001b[0m', changed_at: '2026-11-20 11:57:00.000' }),
    vendor(13, { vendor_name: '有限会社みどり', vis_state: 2 }),
    vendor(14, { vis_state: 1 }),
    vendor(15, { presence: 'suspect' }),
    vendor(16, { vis_state: 1, vis_state_source: 'inferred', presence: 'missing' }),
  ],
  vendor_balances: [
    balance(11, 'outstanding', '1200.50', 'EUR'),
    balance(11, 'outstanding', '7.00', 'USD'),
    balance(11, 'overdue', '1000.00', 'EUR'),
    balance(12, 'outstanding', '0.50', 'EUR'),
    balance(14, 'outstanding', '99.00', 'EUR'),
  ],
  _balance_spans: [
    span(11, 'EUR', 120_050, { overdue_units: 100_000, overdue_amount: 1_000 }),
    span(11, 'USD', 700),
    span(12, 'EUR', 50),
    span(14, 'EUR', 9_900, { state: 'deleted' }),
  ],
  vendor_tax_defaults: [
    { account_id: '6BApk', vendorid: 11, taxid: 5, system_taxid: 8, enabled: 1, name: 'VAT', amount: '19' },
    { account_id: '6BApk', vendorid: 11, taxid: 6, system_taxid: 9, enabled: 0, name: 'City', amount: '1.5' },
  ],
  vendor_versions: [
    version(11, [], { valid_from: '2026-11-20 09:00:00.000', raw: '{"city":"Wien"}' }),
    version(11, ['note', 'city'], {
      valid_from: '2026-11-20 11:00:00.000',
      source: 'delivery',
      raw: '{"city":"Köln","note":"two\\nlines"}',
    }),
    version(16, [], { valid_from: '2026-11-19 09:00:00.000' }),
    version(16, ['vis_state', 'presence'], { vis_state: 1, presence: 'missing', source: 'reconcile' }),
  ],
  gateways: [
    {
      account_id: '6BApk',
      sgid: 26,
      id: 26,
      gateway_name: 'stripe',
      connectionid: 'c26',
      first_seen_at: '2026-11-20 09:00:00.000',
    },
    {
      account_id: '6BApk',
      sgid: 30,
      id: 30,
      gateway_name: 'own',
      connectionid: null,
      first_seen_at: '2026-11-18 09:00:00.000',
      removed_at: '2026-11-20 11:00:00.000',
    },
  ],
  runs: [
    run(1, {
      outcome: 'incomplete',
      error: 'The list moved.',
      started_at: '2026-11-20 10:00:00.000',
      finished_at: '2026-11-20 10:02:00.000',
      safe_as_of: null,
    }),
    run(2, { pages: 3, requests: 4, seen: 6, created: 6 }),
  ],
};

let line: Testbed<'command'>;

async function openFilled(): Promise<void> {
  line = await testbed({ level: 'command' });
  await line.fill(rows);
}

describe('where nothing is mirrored yet', () => {
  beforeEach(async () => {
    line = await testbed({ level: 'command' });
  });

  it.each([['vendors', 'list'], ['vendors', 'show', '1'], ['gateways', 'list'], ['status'], ['changes']])(
    '%s %s says so and what to do, and exits with 0',
    async (...command) => {
      expect(await line.run(...command)).toEqual({
        status: 0,
        stdout: '',
        stderr: 'Nothing is mirrored yet. Run `vendor-mirror sync`.\n',
      });
    },
  );

  it.each(['status', 'doctor'])('%s takes an empty file, such as of a copy that failed, for none', async (command) => {
    writeFileSync(line.database, '');
    const { status, stdout, stderr } = await line.run(command, '--account', '6BApk');
    expect(status).toBe(0);
    expect(stdout + stderr).toContain(
      command === 'status' ? 'Nothing is mirrored yet.' : 'is empty: nothing is mirrored yet.',
    );
  });

  it.each([['status'], ['vendors', 'list'], ['changes']])(
    '%s %s takes a file that another process is only beginning for none',
    async (...command) => {
      const beginning = otherConnection(line.database);
      beginning.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE migrations (number INTEGER)');
      expect(await line.run(...command)).toEqual({
        status: 0,
        stdout: '',
        stderr: 'Nothing is mirrored yet. Run `vendor-mirror sync`.\n',
      });
    },
  );

  it.each([
    [['vendors', 'list'], { ok: true, total: 0, vendors: [] }],
    [['vendors', 'show', '1'], { ok: true, vendors: [] }],
    [['gateways', 'list'], { ok: true, gateways: [], unlisted: [] }],
  ])('%s --json prints an empty document', async (command, document) => {
    expect(JSON.parse((await line.run(...command, '--json')).stdout)).toEqual({ ...document, sandbox: true });
  });

  it('status --json advises every account of the settings', async () => {
    const { stdout } = await line.run('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      accounts: [{ account: '6BApk', runs: [] }, { account: 'other' }],
      advice: [expect.stringContaining('6BApk, other: ')],
      causes: [{ code: 'never_mirrored', accounts: ['6BApk', 'other'] }],
    });
  });
});

describe('vendors list', () => {
  beforeEach(openFilled);

  it('L12 lists what is active and not absent, and no escape of a name reaches the terminal (H10)', async () => {
    const { status, stdout, stderr } = await line.run('vendors', 'list');
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "vendorid  name            presence  country            outstanding      overdue  changed
            11  Müller & Söhne  present   Germany  1200.50 EUR; 7.00 USD  1000.00 EUR  3 h ago
            12  ␛[31mRed␛[0m    present   –                     0.50 EUR            –  3 min ago
            15  Vendor 15       suspect   –                            –            –  3 h ago
      "
    `);
    expect(stderr).toBe('3 vendors.\n');
  });

  it('shows state and presence where they differ', async () => {
    expect((await line.run('vendors', 'list', '--state', 'all')).stdout).toMatchInlineSnapshot(`
      "vendorid  name            state     presence  country            outstanding      overdue  changed
            11  Müller & Söhne  active    present   Germany  1200.50 EUR; 7.00 USD  1000.00 EUR  3 h ago
            12  ␛[31mRed␛[0m    active    present   –                     0.50 EUR            –  3 min ago
            13  有限会社みどり  archived  present   –                            –            –  3 h ago
            14  Vendor 14       deleted   present   –                    99.00 EUR            –  3 h ago
            15  Vendor 15       active    suspect   –                            –            –  3 h ago
            16  Vendor 16       deleted   missing   –                            –            –  3 h ago
      "
    `);
  });

  it.each([
    [['--search', 'muller'], [11]],
    [['--search', 'KÖLN'], [11]],
    [['--search', '%'], []],
    [['--state', 'archived'], [13]],
    [
      ['--state', 'deleted'],
      [14, 16],
    ],
    [['--presence', 'missing'], [16]],
    [['--presence', 'suspect', '--state', 'active'], [15]],
    [
      ['--state', 'all', '--limit', '2'],
      [11, 12],
    ],
    [['--account', 'other'], []],
    [
      ['--state', 'all', '--sort', 'name'],
      [12, 11, 14, 15, 16, 13],
    ],
    [
      ['--state', 'all', '--sort', 'outstanding', '--limit', '3'],
      [11, 14, 12],
    ],
    [['--sort', 'overdue', '--limit', '1'], [11]],
    [['--sort', 'country', '--limit', '1'], [11]],
    [['--sort', 'changed', '--limit', '1'], [12]],
  ])('%j finds %j', async (filter, vendorids) => {
    const { stdout } = await line.run('vendors', 'list', '--json', ...filter);
    const { vendors } = JSON.parse(stdout) as { vendors: { vendorid: number }[] };
    expect(vendors.map(({ vendorid }) => vendorid)).toEqual(vendorids);
  });

  it('says how many a limit leaves out', async () => {
    const { stderr } = await line.run('vendors', 'list', '--state', 'all', '--limit', '2');
    expect(stderr).toBe('2 of 6 vendors; --all lists them all.\n');
  });

  it('says so if no vendor matches', async () => {
    expect(await line.run('vendors', 'list', '--search', 'nobody')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'No vendors.\n',
    });
  });

  it('prints balances and booleans as JSON values with --json', async () => {
    const { stdout } = await line.run('vendors', 'list', '--json', '--limit', '1');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      total: 3,
      vendors: [
        {
          account_id: '6BApk',
          vendorid: 11,
          vendor_name: 'Müller & Söhne',
          is_1099: true,
          outstanding: [
            { amount: '1200.50', code: 'EUR' },
            { amount: '7.00', code: 'USD' },
          ],
          overdue: [{ amount: '1000.00', code: 'EUR' }],
        },
      ],
    });
  });
});

describe('vendors show', () => {
  beforeEach(openFilled);

  it('shows every field in the order of the reference, and a timeline from what to what', async () => {
    expect((await line.run('vendors', 'show', '11')).stdout).toMatchInlineSnapshot(`
      "Müller & Söhne
        vendorid                    11
        vendor_name                 Müller & Söhne
        account_number              ""
        primary_contact_first_name  –
        primary_contact_last_name   –
        primary_contact_email       info@mueller.example
        primary_contact             –
        phone                       –
        street                      –
        street2                     –
        city                        Köln
        province                    –
        postal_code                 –
        country                     Germany
        website                     –
        currency_code               EUR
        language                    de
        is_1099                     true
        note                        two␊lines
        vis_state                   0 (active)
        tax_defaults                VAT 19 % (taxid 5); City 1.5 %, not enabled (taxid 6)
        outstanding_balance         1200.50 EUR; 7.00 USD
        overdue_balance             1000.00 EUR
        created_at                  2020-10-09 15:25:05 (6 years ago)
        updated_at                  2026-11-20 08:59:00 (3 h ago)
        tier                        gold

      In the mirror
        account_id        6BApk
        presence          present
        vis_state_source  reported
        source            pull
        first_seen_at     2026-11-20 09:00:00.000 (3 h ago)
        changed_at        2026-11-20 09:00:00.000 (3 h ago)
        safe_as_of        2026-11-20 11:54:55.000 (5 min ago)

      Timeline
        2026-11-20 09:00:00 UTC (3 h ago)  created, learned by a pull
        2026-11-20 11:00:00 UTC (1 h ago)  updated, learned by a webhook
          note  – → two␊lines
          city  Wien → Köln
      "
    `);
  });

  it('gives the same with --json', async () => {
    const { stdout } = await line.run('vendors', 'show', '11', '--json');
    const { vendors } = JSON.parse(stdout) as { vendors: { record: object; history: { kind: string }[] }[] };
    expect(vendors[0]?.record).toMatchObject({ vendorid: 11, is_1099: true, tier: 'gold', note: 'two\nlines' });
    expect(vendors[0]?.history.map(({ kind }) => kind)).toEqual(['created', 'updated']);
  });

  it('exits with 1 for a vendor that is not there', async () => {
    const { status, stdout, stderr } = await line.run('vendors', 'show', '99', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'unknown_vendor' } });
    expect(stderr).toMatch(/^vendor-mirror: The mirror holds no vendor 99\.\n {2}\S/);
  });

  it.each(['abc', '0', '1.5', '9007199254740993'])('exits with 64 for the number %s', async (number) => {
    expect((await line.run('vendors', 'show', number)).status).toBe(64);
  });
});

describe('gateways list', () => {
  it('lists them, with those that were removed', async () => {
    line = await testbed({ level: 'command' });
    await line.fill(rows);
    expect((await line.run('gateways', 'list')).stdout).toMatchInlineSnapshot(`
      "account  sgid  name    connectionid  first seen  removed
      6BApk      26  stripe  c26           3 h ago     –
      6BApk      30  own     –             2 days ago  1 h ago
      "
    `);
  });
});

describe('status', () => {
  beforeEach(async () => {
    line = await testbed({ level: 'command' });
  });

  it('shows what the mirror holds, how fresh it is, and the latest runs', async () => {
    await line.fill({
      ...rows,
      _accounts: [...(rows['_accounts'] ?? []), { account_id: 'other', added_at: '2026-11-20 09:00:00.000' }],
    });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout.replace(line.folder, '')).toMatchInlineSnapshot(`
      "Your mirror is correct as of 2026-11-20 11:54:55 UTC, 5 min ago; nothing to do.
      No daemon runs: the mirror is as fresh as the last sync made it.

      Account 6BApk
      currency  vendors   outstanding       overdue
      EUR             2  1,201.00 EUR  1,000.00 EUR
      USD             1      7.00 USD      0.00 USD
      Also owed: 99.00 EUR to deleted vendors.

        vendors     2 active, 1 archived, 1 deleted, 1 suspect, 1 missing
        freshness   holds everything up to 2026-11-20 11:54:55 UTC (5 min ago); last complete sweep 4 min ago
        queue       empty
        deliveries  none ever arrived
        findings    none in the last run
        callbacks   none

      run  kind  by       outcome     begun       took  seen  created  updated  suspects  error
        2  pull  command  complete    5 min ago   12 s     6        6        0         0  –
        1  pull  command  incomplete  2 h ago    2 min     0        0        0         0  The list moved.

      /vendors.db
      "
    `);
  });

  it('K17 says since when requests fail, and why, beside a mirror that is still fresh', async () => {
    const failing = { account_id: '6BApk', code: 'service_timeout', message: 'No answer came within 30 s.' };
    const times = { first_at: '2026-11-20 11:58:00.000', last_at: '2026-11-20 11:59:00.000' };
    await line.fill({ ...rows, _request_failures: [{ ...failing, ...times, requests: 3 }] });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain('requests    the last 3 failed, since 2 min ago: No answer came within 30 s.\n');
    expect(stdout).toMatch(
      /^The service does not answer correctly, since 2026-11-20 11:58:00 UTC, 2 min ago; one thing to do\.\n {2}6BApk: /,
    );
    const { stdout: json } = await line.run('status', '--account', '6BApk', '--json');
    expect(JSON.parse(json)).toMatchObject({
      started_at: null,
      accounts: [{ request_failures: { requests: 3, ...times }, sweep_request: { asked_at: null } }],
    });
  });

  it('says what to do if something is wrong', async () => {
    await line.fill({
      ...rows,
      runs: [
        run(1, { safe_as_of: '2026-11-19 12:00:00.000' }),
        run(2, { outcome: 'failed', error: 'The service is down.', safe_as_of: null }),
      ],
      findings: [
        { run_id: 2, account_id: '6BApk', kind: 'breaker', fields: '{}', found_at: '2026-11-20 11:00:00.000' },
      ],
      dirty_vendors: [
        { account_id: '6BApk', vendorid: 11, generation: 1, marked_at: '2026-11-20 11:00:00.000', reason: 'retry' },
      ],
    });
    const { stdout } = await line.run('status');
    expect(stdout.slice(0, stdout.indexOf('\nAccount'))).toMatchInlineSnapshot(`
      "other: Nothing is mirrored completely yet; 4 things to do.
        6BApk: Changes of the last day may be missing; admin.maxStaleness allows 2 h.
        other: No sweep was complete yet. Run \`vendor-mirror sync\`.
        6BApk: The last pull failed: The service is down. Run \`vendor-mirror sync\` again.
        6BApk: Many vendors are missing from the list, and none of them was marked gone yet. If these vendors are really gone, allow it: \`vendor-mirror reconcile --approve-absences N\`.
        6BApk: One changed vendor could not be read; the next reconciliation tries again. Remove the cause; then \`vendor-mirror deliveries retry\` tries again at once.
      No daemon runs: the mirror is as fresh as the last sync made it.
      "
    `);
  });

  it('K18 advises what the last run itself said to do, and no further run that would only fail again', async () => {
    const refused = {
      outcome: 'failed',
      error: 'The service answered 401.',
      error_code: 'unauthenticated',
      safe_as_of: null,
    };
    await line.fill({
      ...rows,
      runs: [
        run(1, { safe_as_of: '2026-11-19 12:00:00.000' }),
        run(2, refused),
        run(3, { outcome: 'running', finished_at: null, safe_as_of: null }),
      ],
    });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain(
      '6BApk: The service refuses access (unauthenticated). The service answered 401. The token is unknown or expired: set a new one.',
    );
    expect(stdout).toContain('6BApk: Changes of the last day may be missing; admin.maxStaleness allows 2 h.\n');
  });

  it('reports deliveries, and why vendors were given up', async () => {
    const parked = (vendorid: number, last_error: string | null): Row => ({
      account_id: '6BApk',
      vendorid,
      generation: 1,
      marked_at: '2026-11-20 11:00:00.000',
      reason: 'retry',
      last_error,
    });
    const missed = {
      run_id: 2,
      account_id: '6BApk',
      kind: 'missed_update',
      fields: '[]',
      found_at: '2026-11-20 11:50:00.000',
    };
    const callback = {
      account_id: '6BApk',
      callbackid: 7,
      event: 'bill_vendor',
      uri: 'https://m.example/webhooks/6BApk/',
    };
    const delivery = { account_id: '6BApk', received_at: '2026-11-20 11:40:00.000', name: 'bill_vendor.update' };
    await line.fill({
      ...rows,
      findings: [missed, missed, missed],
      callbacks: [{ ...callback, verified: 1, checked_at: '2026-11-20 11:59:00.000' }],
      deliveries: [{ ...delivery, object_id: 11, outcome: 'applied' }],
      dirty_vendors: [
        parked(11, 'The service failed.'),
        parked(12, 'The service failed.'),
        parked(13, null),
        { ...parked(14, null), due_at: '2026-11-20 12:00:00.000', due_ms: 0 },
      ],
    });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(
      stdout
        .split('\n')
        .filter((text) => /^ {2}(queue|deliveries|findings|callbacks|6BApk)/.test(text))
        .join('\n'),
    ).toMatchInlineSnapshot(`
      "  6BApk: Sweeps found 3 changes that no delivery announced, and the last one arrived 20 min ago. Correct what \`vendor-mirror doctor\` says of the public address and the delivery path. If both are right, the service may have disabled the callback: \`vendor-mirror callbacks resend 7 --account 6BApk\` enables it, while the daemon runs, which also tries it by itself.
        6BApk: 3 changed vendors could not be read; the next reconciliation tries again. Most often: The service failed. Remove the cause; then \`vendor-mirror deliveries retry\` tries again at once.
        queue       1 waiting, 3 parked (2 for: The service failed.; 1 for: no cause was recorded); the oldest since 1 h ago
        deliveries  the last arrived 20 min ago; since then sweeps found 3 changes that none announced; none unsettled
        findings    3 missed_update in the last run
        callbacks   bill_vendor to https://m.example/webhooks/6BApk/, verified, checked 1 min ago"
    `);

    const { stdout: json } = await line.run('status', '--account', '6BApk', '--json');
    expect(JSON.parse(json)).toMatchObject({
      accounts: [
        {
          queue: {
            waiting: 1,
            parked: 3,
            oldest: '2026-11-20 11:00:00.000',
            parked_for: [
              { error: 'The service failed.', vendors: 2 },
              { error: null, vendors: 1 },
            ],
          },
          last_delivery: '2026-11-20 11:40:00.000',
          webhook_health: [{ day: '2026-11-20', deliveries: 1, unannounced_changes: 3 }],
        },
      ],
    });
  });

  it('says that a daemon runs where the settings name the mirror by a symbolic link', async () => {
    await line.fill(rows);
    const real = `${line.database}.real`;
    renameSync(line.database, real);
    symlinkSync(real, line.database);
    const lock = takeSideLock(real, line.clock.now());
    onTestFinished(() => lock.release());
    expect((await line.run('status')).stdout).toContain('\nA daemon has been running');
  });

  it('says first that a daemon runs, and since when, and breaks no word on a narrow terminal', async () => {
    await line.fill(rows);
    const lock = takeSideLock(line.database, line.clock.now() - 3_600_000);
    expect((await line.run('status')).stdout).toContain(
      '\nA daemon has been running since 2026-11-20 11:00:00 UTC (1 h ago).\n',
    );
    lock.release();
    expect((await line.run('status')).stdout).toContain('\nNo daemon runs');
    const narrow = await testbed({ level: 'command', columns: 44, env: { NO_COLOR: '1' } });
    await narrow.fill(rows);
    const { stdout } = await narrow.run('status', '--account', '6BApk');
    expect(stdout.slice(0, stdout.lastIndexOf('\n\n'))).toMatchInlineSnapshot(`
      "Your mirror is correct as of 2026-11-20
      11:54:55 UTC, 5 min ago; nothing to do.
      No daemon runs: the mirror is as fresh as
      the last sync made it.

      Account 6BApk
      currency   outstanding       overdue
      EUR       1,201.00 EUR  1,000.00 EUR
      USD           7.00 USD      0.00 USD
      Also owed: 99.00 EUR to deleted vendors.

        vendors     2 active, 1 archived, 1
                    deleted, 1 suspect, 1 missing
        freshness   holds everything up to
                    2026-11-20 11:54:55 UTC (5 min
                    ago); last complete sweep 4
                    min ago
        queue       empty
        deliveries  none ever arrived
        findings    none in the last run
        callbacks   none

      kind  outcome     begun       took  seen
      pull  complete    5 min ago   12 s     6
      pull  incomplete  2 h ago    2 min     0"
    `);
  });

  it('reports callbacks that are not verified', async () => {
    const callback = {
      account_id: '6BApk',
      callbackid: 7,
      event: 'bill_vendor',
      uri: 'https://m.example/webhooks/6BApk/',
    };
    await line.fill({ ...rows, callbacks: [{ ...callback, verified: 0, checked_at: '2026-11-20 11:59:00.000' }] });
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toContain(
      '6BApk: Our callback 7 is not verified, so nothing is delivered: it awaits a code of the service.',
    );
    expect(stdout).toContain('`vendor-mirror callbacks resend 7 --account 6BApk`');
  });

  it('L85 does not show what is unknown as nothing before the first complete sweep, or where balances are unreadable', async () => {
    const accounts = [{ account_id: '6BApk', added_at: '2026-11-20 09:00:00.000' }];
    await line.fill({ _accounts: accounts });
    const before = (await line.run('status', '--account', '6BApk')).stdout;
    expect(before).toContain('What is owed to active vendors is not known.');
    expect(before).not.toContain('Nothing is owed');
    await line.fill({ vendors: [vendor(11)], _balance_spans: [span(11, 'EUR', 100)] });
    expect((await line.run('status', '--account', '6BApk')).stdout).toMatch(/^so far +vendors +outstanding/m);
    const read = await testbed({ level: 'command' });
    await read.fill({
      _accounts: accounts,
      runs: [run(1)],
      vendors: [vendor(11, { unreadable_fields: '["outstanding_balance"]' })],
    });
    const { stdout } = await read.run('status', '--account', '6BApk');
    expect(stdout).toContain('What is owed to active vendors is not known.');
    expect(stdout).toContain('The balances of 1 vendor cannot be read whole; what cannot be read is left out.');
  });

  it('adds amounts up exactly, beyond what a number holds', async () => {
    await line.fill({
      ...rows,
      _balance_spans: [11, 12].map((vendorid) => span(vendorid, 'EUR', 9_000_000_000_000_000n)),
    });
    expect((await line.run('status')).stdout).toContain(' 180,000,000,000,000.00 EUR ');
  });

  it('L4 names the requests that the service does not honour, and what is done without them', async () => {
    const declined = { account_id: '6BApk', failures: 2, code: 'access_denied', message: 'Not for this token.' };
    const moments = {
      tried_at: '2026-11-20 11:30:00.000',
      again_at: '2026-11-20 12:30:00.000',
      since_ms: 0,
      again_ms: 1,
    };
    const row = { ...declined, ...moments, request: 'gateways', since: '2026-11-20 11:00:00.000' };
    await line.fill({ ...rows, _not_honoured: [row] });
    expect((await line.run('status', '--account', '6BApk')).stdout.replace(/\s+/g, ' ')).toContain(
      'not honoured gateways since 1 h ago, so gateways stay as they were',
    );
    const { accounts } = JSON.parse((await line.run('status', '--json')).stdout) as {
      accounts: { not_honoured: unknown[] }[];
    };
    expect(accounts[0]?.not_honoured).toEqual([
      { request: 'gateways', since: '2026-11-20 11:00:00.000', message: 'Not for this token.' },
    ]);
  });

  it('L14 L19 names the fields that lists leave out or show otherwise, and those that are different in each answer', async () => {
    const detail = { account_id: '6BApk', vendorids: '[11,12]', learned_at: '2026-11-20 11:00:00.000' };
    const unsteady = { account_id: '6BApk', vendorid: 11, changes: 4, run_id: 1 };
    await line.fill({
      ...rows,
      _detail_fields: [
        { ...detail, field: 'note', is_shown: 0 },
        { ...detail, field: 'account_number', is_shown: 1 },
        { ...detail, field: 'phone', is_shown: 0, learned_at: null },
      ],
      _unsteady_fields: [
        { ...unsteady, field: 'logo', is_found: 1 },
        { ...unsteady, field: 'website', is_found: 0 },
      ],
    });
    expect((await line.run('status', '--account', '6BApk')).stdout).toContain(
      'left out of lists: note; shown otherwise in lists: account_number; different in each answer: logo',
    );
    const { accounts } = JSON.parse((await line.run('status', '--json')).stdout) as {
      accounts: { learned_fields: [] }[];
    };
    expect(accounts[0]?.learned_fields).toEqual([
      { field: 'logo', how: 'different' },
      { field: 'note', how: 'left_out' },
      { field: 'account_number', how: 'shown_otherwise' },
    ]);
  });
});
