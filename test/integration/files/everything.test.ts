/**
 * What "everything" means: every text of both files is a canary that says whose it is, and then the bytes of all files are searched. And
 * what no command may change without being asked: mode and owner of every file.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/domain/clock.ts';
import { textFields } from '../../../src/domain/vendor.ts';
import { quarantineIfDamaged } from '../../../src/store/files/damage.ts';
import { mirrorMigrations } from '../../../src/store/reader.ts';
import { openSecrets } from '../../../src/store/secrets/secrets.ts';
import { canary, fields, fill, found, one, other, unknown } from '../../support/mirror/canaries.ts';
import { migrations, otherConnection } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

let line: Testbed<'command'>;
let secrets: string;

async function filled(): Promise<void> {
  line = await testbed({
    level: 'command',
    settings: `vendors: { exclude: [${fields.join()}] }\nsandbox: { vendors: 0, seed: 1, churn: 0 }`,
  });
  secrets = join(line.folder, 'secrets.db');
  await line.fill({});
  const clock = virtualClock({ auto: true });
  await (await openSecrets({ path: secrets, migrations, clock, random: systemRandom })).close();
  for (const path of [line.database, secrets]) fill(path);
}

describe('forget', () => {
  beforeEach(filled);

  it('L67 of a vendor leaves none of its texts in any table or file, and every text of the others', async () => {
    const before = found(line.folder);
    const ofVendor = before.filter((text) => text.startsWith(`<${one}/11|`));
    expect(new Set(ofVendor.map((text) => text.split(/[|.]/)[1]))).toEqual(
      new Set([
        ...['name', 'vendors', '_vendor_versions', 'vendor_balances', 'vendor_tax_defaults', '_balance_spans'],
        ...['findings', 'dirty_vendors', 'deliveries', '_creations', '_edits', '_notify_queue'],
        ...['undecided_vendors', '_lagging_copies', '_unsteady_fields'],
      ]),
    );
    expect((await line.run('forget', '--vendor', '11', '--account', one, '--yes')).status).toBe(0);
    expect(found(line.folder)).toEqual(before.filter((text) => !ofVendor.includes(text)));
  });

  it.each(['phone', 'outstanding_balance', 'overdue_balance', 'tax_defaults', unknown])(
    'L67 of the field %s leaves its values nowhere, and those of all other fields',
    async (field) => {
      const before = found(line.folder);
      const ofField = before.filter((text) => text.endsWith(`|${field}>`));
      expect(ofField.length).toBeGreaterThanOrEqual(8);
      expect((await line.run('forget', '--field', field, '--yes')).status).toBe(0);
      expect(found(line.folder)).toEqual(before.filter((text) => !ofField.includes(text)));
    },
  );

  it('L67 of all fields in one account leaves the other account as it was', async () => {
    const before = found(line.folder);
    expect((await line.run('forget', '--field', ...fields, '--account', one, '--yes')).status).toBe(0);
    expect(found(line.folder)).toEqual(
      before.filter((text) => {
        const isForgotten = text.includes('|_balance_spans.') || fields.some((field) => text.endsWith(`|${field}>`));
        return text.startsWith(`<${other}`) || !isForgotten;
      }),
    );
  });
});

/** All rows of all tables, by table. */
function rowsOf(path: string): Record<string, unknown[]> {
  const file = otherConnection(path);
  const names = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  const rows = Object.fromEntries(names.map((name) => [name, file.prepare(`SELECT * FROM "${name}"`).all()]));
  file.close();
  return rows;
}

describe('accounts remove', () => {
  it('L67 takes the account from those that were added, and changes no other row of either file', async () => {
    await filled();
    writeFileSync(
      line.settings,
      readFileSync(line.settings, 'utf8').replace(`accounts: [${one}, ${other}]`, `accounts: [${other}]`),
    );
    const file = otherConnection(line.database);
    file.exec("UPDATE _added_accounts SET connection = 'default'");
    file.close();
    const before = [rowsOf(line.database), rowsOf(secrets)];
    const outcome = await line.run('accounts', 'remove', one);
    expect([outcome.status, outcome.stderr]).toEqual([0, '']);
    const without = (rows: unknown[]): unknown[] =>
      rows.filter((row) => (row as { account_id: string }).account_id !== one);
    const [mirror, ...more] = before;
    const resumed = mirror!['_accounts']!.map((row) => {
      const account = row as { account_id: string; paused_since: string | null };
      return account.account_id === one ? { ...account, paused_since: null } : account;
    });
    expect([rowsOf(line.database), rowsOf(secrets)]).toEqual([
      { ...mirror, _accounts: resumed, _added_accounts: without(mirror!['_added_accounts']!) },
      ...more,
    ]);
  });
});

describe('export', () => {
  it('L67 writes nothing of the secrets in any format', async () => {
    await filled();
    const tables = new Set(Object.keys(rowsOf(secrets)).filter((name) => name !== 'migrations'));
    const ofSecrets = (text: string): boolean => tables.has(text.split(/[|.]/)[1]!);
    expect(
      new Set(
        found(line.folder)
          .filter(ofSecrets)
          .map((text) => text.split(/[|.]/)[1]),
      ),
    ).toEqual(
      new Set([
        ...['path_tokens', 'verifiers', 'awaited_codes', 'registrations', 'key_orders'],
        ...['oauth_tokens', 'notified'],
      ]),
    );
    const out = join(line.folder, 'out');
    mkdirSync(out);
    for (const ending of ['db', 'csv', 'ndjson', 'parquet'])
      expect([ending, (await line.run('export', join(out, `copy.${ending}`))).status]).toEqual([ending, 0]);
    expect(found(out).length).toBeGreaterThan(100);
    expect(found(out).filter(ofSecrets)).toEqual([]);
  });
});

describe('fields in `vendors.exclude`', () => {
  it('L67 are in no byte of any file, whichever way a vendor is read', async () => {
    const excluded = fields.filter((field) => field !== 'note');
    const mark = (vendorid: number, field: string): string => canary(`service/${vendorid}`, 'answer', field);
    const valueOf = (vendorid: number, field: string): unknown => {
      if (field.endsWith('_balance')) return [{ amount: { amount: mark(vendorid, field), code: 'EUR' } }];
      if (field === 'tax_defaults') return [{ taxid: 1, name: mark(vendorid, field), enabled: true }];
      return mark(vendorid, field);
    };
    /** Every vendor of an answer, with a text in each field. */
    const marked = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(marked);
      if (typeof value !== 'object' || value === null) return value;
      const inner = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, marked(member)]));
      const { vendorid } = inner;
      if (typeof vendorid !== 'number') return inner;
      return { ...inner, ...Object.fromEntries(fields.map((field) => [field, valueOf(vendorid, field)])) };
    };
    const at = await testbed({
      level: 'account',
      vendors: 6,
      settings: { vendors: { exclude: excluded } },
      rewrite: (text) => (text.startsWith('{') ? JSON.stringify(marked(JSON.parse(text))) : text),
    });
    const [first, second] = at.sandbox
      .vendors(one)
      .listed()
      .map((record) => record['vendorid'] as number);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(60_000);
    at.sandbox.vendors(one).edit(first!, { vendor_name: 'Edited' });
    at.sandbox.vendors(one).edit(second!, { vis_state: 1 });
    expect(await at.pull({ kind: 'reconcile' })).toMatchObject({ outcome: 'complete' });
    const { mirror, vendors } = at.installation.account(one);
    const context = { accountId: one, source: 'delivery', runId: null, deliveryId: null, lag: 0 } as const;
    await mirror.readings.applyReading(await vendors.read(first!), context);
    await at.installation.verify(one, { signal: new AbortController().signal, trigger: 'command' });
    const standing = found(join(at.database, '..'));
    expect(standing.filter((text) => text.endsWith('|note>')).length).toBeGreaterThan(3);
    expect(standing.filter((text) => !text.endsWith('|note>'))).toEqual([]);
    expect(textFields.filter((field) => excluded.includes(field)).length).toBeGreaterThan(10);
  });
});

describe('mode and owner', () => {
  /** Of every file in the folder. */
  const stats = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(line.folder).map((name) => {
        const { mode, uid, gid } = lstatSync(join(line.folder, name));
        return [name, `${(mode & 0o7777).toString(8)} ${uid}:${gid}`];
      }),
    );

  it('L67 of each file are as before after export, forget, and export and import of the secrets', async () => {
    await filled();
    const at = (name: string): string => join(line.folder, name);
    const key = ['--passphrase-file', at('passphrase')];
    writeFileSync(at('passphrase'), 'correct horse battery\n');
    const targets = ['copy.db', 'copy.csv'].map(at);
    for (const target of targets) expect((await line.run('export', target)).status).toBe(0);
    expect((await line.run('secrets', 'export', at('sealed'), ...key)).status).toBe(0);
    // It leaves a lock beside the mirror.
    expect((await line.run('forget', '--field', 'note', '--yes')).status).toBe(0);
    for (const name of ['vendors.db', 'copy.db', 'copy.csv']) chmodSync(at(name), 0o664);
    // Only root may give files away; without it, their owner is seen to stay, and no more.
    if (process.getuid?.() === 0) for (const name of readdirSync(line.folder)) chownSync(at(name), 1_234, 2_345);
    const before = stats();
    for (const argv of [
      ...targets.map((target) => ['export', target]),
      ['forget', '--field', 'phone', '--yes'],
      ['forget', '--vendor', '11', '--account', one, '--yes'],
      ['secrets', 'export', at('sealed'), ...key],
      ['secrets', 'import', at('sealed'), '--yes', ...key],
      ['secrets', 'export', at('sealed'), ...key],
    ]) {
      expect([argv.join(' '), (await line.run(...argv)).status]).toEqual([argv.join(' '), 0]);
      expect([argv.join(' '), stats()]).toEqual([argv.join(' '), before]);
    }
  });

  it('L67 of a damaged mirror are as before after it is moved aside', async () => {
    await filled();
    const bytes = readFileSync(line.database);
    writeFileSync(line.database, bytes.fill(0x5a, bytes.length / 2));
    chmodSync(line.database, 0o664);
    if (process.getuid?.() === 0) chownSync(line.database, 1_234, 2_345);
    const { 'vendors.db': before, ...others } = stats();
    const clock = virtualClock({ auto: true });
    const { to } = (await quarantineIfDamaged(line.database, clock, mirrorMigrations(migrations)))!;
    expect(stats()).toEqual({ ...others, [basename(to)]: before });
  });
});
