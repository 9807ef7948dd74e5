import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { activeDifferences } from '../unit/sync/equal.ts';
import { build, place, service } from './program.ts';

beforeAll(build);

const fields = ['vendor_name=Acme', 'language=en', 'currency_code=USD'].flatMap((pair) => ['--set', pair]);

describe('a creation whose process is killed', () => {
  it('K21 P9 after the service carried it out is not done a second time by the next process', async () => {
    const sandbox = await service({ vendors: 20 });
    const at = place(sandbox, { settings: 'sync: { lag: 0s }' });
    expect((await at.run('sync')).status).toBe(0);
    let posts = 0;
    sandbox.sandbox.onRequest(({ method }) => (posts += Number(method === 'POST')));
    sandbox.sandbox.faults.next({ kind: 'stall', match: ({ method }) => method === 'POST' });
    const created = new Promise<void>((resolve) => sandbox.sandbox.onChange(() => resolve()));

    const child = at.start('vendors', 'create', ...fields);
    const exited = once(child, 'exit');
    await Promise.race([created, exited]);
    child.kill('SIGKILL');
    await exited;
    expect(at.query('SELECT vendor_name FROM _creations')).toEqual([{ vendor_name: 'Acme' }]);
    expect(at.query("SELECT vendorid FROM vendors WHERE vendor_name = 'Acme'")).toEqual([]);

    const { status, stderr } = await at.run('vendors', 'create', ...fields);
    expect(status, stderr).toBe(0);
    expect(posts).toBe(1);
    expect(at.query("SELECT vendorid FROM vendors WHERE vendor_name = 'Acme'")).toHaveLength(1);
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox })).toEqual([]);
    expect(at.query('SELECT * FROM _creations')).toEqual([]);
  });
});
