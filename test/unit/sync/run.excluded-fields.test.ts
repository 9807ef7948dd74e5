/** Fields that `vendors.exclude` keeps out of the mirror. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const secretPhone = '+49 30 5550199';
const excludePhone = { vendors: { exclude: ['phone', 'tax_defaults'] } };

async function reconcile(at: Testbed<'account'>): Promise<Record<string, unknown>> {
  await at.clock.advance(600_000);
  return (await at.pull({ kind: 'reconcile', trigger: 'schedule' })) as unknown as Record<string, unknown>;
}

function first(at: Testbed<'account'>): number {
  return at.sandbox.vendors(account).listed()[0]!['vendorid'] as number;
}

/** Runs of the account become ones that a webhook should have announced. */
function subscribe(at: Testbed<'account'>): Promise<void> {
  const callback = { callbackid: 1, event: 'bill_vendor', uri: 'https://mirror.example', verified: true };
  return at.installation.mirror.callbacks.replaceCallbacks(account, [callback]);
}

describe('a field that is excluded from the start', () => {
  it('is nowhere in the file, causes no change or difference, and returns without a finding', async () => {
    const at = await testbed({ level: 'account', vendors: 20, settings: excludePhone, world: ['noteInList=yes'] });
    const [service, vendorid] = [at.sandbox.vendors(account), first(at)];
    service.edit(vendorid, { phone: secretPhone });
    await subscribe(at);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', created: 20 });
    expect(await reconcile(at)).toMatchObject({ outcome: 'complete', updated: 0, unchanged: 20 });
    service.edit(vendorid, { phone: '+49 30 5550100', city: 'Ulm' });
    await reconcile(at);
    expect(
      at.query("SELECT city, phone, raw LIKE '%phone%' AS told FROM vendors WHERE vendorid = ?", vendorid),
    ).toEqual([{ city: 'Ulm', phone: null, told: 0 }]);
    expect(at.query('SELECT count(*) AS rows FROM vendor_tax_defaults')).toEqual([{ rows: 0 }]);
    const fields = at.query<{ changed_fields: string }>('SELECT changed_fields FROM vendor_versions WHERE seq > 20');
    expect(fields.map(({ changed_fields }) => JSON.parse(changed_fields) as unknown)).toEqual([['city', 'updated_at']]);
    const { outcome } = await at.installation.verify(account, {
      signal: new AbortController().signal,
      trigger: 'command',
    });
    expect(outcome).toBe('equal');
    await at.reopen();
    for (const end of ['', '-wal']) expect(readFileSync(at.database + end, 'latin1')).not.toContain('+49 30 55501');

    const found = at.query('SELECT kind, fields FROM findings');
    await at.reopen({ vendors: { exclude: [] } });
    const back = await reconcile(at);
    expect(back).toMatchObject({ outcome: 'complete' });
    expect(at.query('SELECT phone FROM vendors WHERE vendorid = ?', vendorid)).toEqual([{ phone: '+49 30 5550100' }]);
    expect(at.query<{ rows: number }>('SELECT count(*) AS rows FROM vendor_tax_defaults')[0]!.rows).toBeGreaterThan(0);
    expect(at.query('SELECT kind, fields FROM findings')).toEqual(found);
  });
});

describe('a field that is excluded later', () => {
  it('disappears from a vendor with its next change, is no change by itself, and is not reported as missing from lists', async () => {
    const at = await testbed({ level: 'account', vendors: 20, world: ['noteInList=yes'] });
    const [service, vendorid] = [at.sandbox.vendors(account), first(at)];
    service.edit(vendorid, { phone: secretPhone });
    await at.pull();
    await at.reopen(excludePhone);
    for (const { vendorid: each } of at.query<{ vendorid: number }>('SELECT vendorid FROM vendors'))
      service.edit(each, { city: 'Ulm' });
    expect(await reconcile(at)).toMatchObject({ outcome: 'complete', updated: 20 });
    expect(at.query("SELECT DISTINCT city, phone, raw LIKE '%phone%' AS told FROM vendors")).toEqual([
      { city: 'Ulm', phone: null, told: 0 },
    ]);
    expect(at.query("SELECT * FROM findings WHERE kind = 'field_drift'")).toEqual([]);
    expect(at.query("SELECT * FROM vendor_versions WHERE changed_fields LIKE '%phone%'")).toEqual([]);
  });
});
