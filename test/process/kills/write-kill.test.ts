import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const fields = ['vendor_name=Acme', 'language=en', 'currency_code=USD'].flatMap((pair) => ['--set', pair]);

describe('a creation whose process is killed', () => {
  it('K21 P9 after the service carried it out is not repeated by the next process', async () => {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 20 });
    const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
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
    at.buryAll();
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

describe('an edit whose process is killed', () => {
  const edit = ['--set', 'city=Oz'];

  /** An edit whose process is killed as soon as the service has carried it out. */
  async function killed(sandbox: EmbeddedSandbox, at: Testbed<'program'>, vendorid: number): Promise<void> {
    sandbox.sandbox.faults.next({ kind: 'stall', match: ({ method }) => method === 'PUT' });
    const changed = new Promise<void>((resolve) => sandbox.sandbox.onChange(() => resolve()));
    const child = at.start('vendors', 'edit', String(vendorid), ...edit);
    const exited = once(child, 'exit');
    await Promise.race([changed, exited]);
    child.kill('SIGKILL');
    await exited;
    at.buryAll();
  }

  it.each([
    [[], 1],
    [['--again'], 2],
  ])('K45 P9 after the service carried it out is checked, and sent again only on request: %j', async (more, times) => {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 20 });
    const at = await testbed({
      level: 'program',
      service: sandbox,
      settings: 'sync: { lag: 0s }',
      env: { USER: 'anna' },
    });
    expect((await at.run('sync')).status).toBe(0);
    const vendorid = Number(sandbox.sandbox.vendors(sandbox.account).listed()[0]?.['vendorid']);
    const methods: string[] = [];
    sandbox.sandbox.onRequest(({ method }) => methods.push(method));

    await killed(sandbox, at, vendorid);
    expect(at.query('SELECT vendorid, fields, sent_by FROM _edits')).toEqual([
      { vendorid, fields: '["city"]', sent_by: 'anna' },
    ]);
    expect(at.query('SELECT vendorid, reason FROM dirty_vendors')).toEqual([{ vendorid, reason: 'asked' }]);
    expect(at.query("SELECT vendorid FROM vendors WHERE city = 'Oz'")).toEqual([]);

    const { status, stderr } = await at.run('vendors', 'edit', String(vendorid), ...edit, ...more);
    expect(status, stderr).toBe(0);
    expect(methods.filter((method) => method === 'PUT')).toHaveLength(times);
    if (times === 1) {
      expect(methods).toEqual(['PUT', 'GET']);
      expect(stderr).toContain('It is not known whether that was carried out.');
      expect(stderr).toContain('nothing was sent.');
    }
    expect(at.query("SELECT vendorid FROM vendors WHERE city = 'Oz'")).toEqual([{ vendorid }]);
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox })).toEqual([]);
    expect(at.query('SELECT * FROM _edits')).toEqual([]);
  });
});
