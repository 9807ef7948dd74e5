import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { activeDifferences, differences } from '../../support/mirror/differences.ts';
import { until } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

const [perPage, pages] = [15, 10];

/** Resolves once vendors were asked for `nth` times. Until `over` the last page is not answered, so that no run is whole. */
function asked({ sandbox }: EmbeddedSandbox, nth: number, over: Promise<unknown>): Promise<void> {
  let waiting = true;
  void over.then(() => (waiting = false));
  sandbox.faults.next({ kind: 'hang', match: ({ query }) => waiting && query.get('page') === String(pages) });
  return new Promise((resolve) => {
    let left = nth;
    const stop = sandbox.onRequest(({ path }) => {
      if (!path.includes('bill_vendors') || --left > 0) return;
      stop();
      resolve();
    });
  });
}

describe('a sync that is interrupted', () => {
  it.each([
    ['SIGINT', 1],
    ['SIGINT', 2],
    ['SIGINT', 5],
    ['SIGINT', 9],
    ['SIGTERM', 3],
    ['SIGTERM', 7],
  ] as const)('J1 A10 F2 %s after %i requests leaves whole pages and an honest run', async (signal, nth) => {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: perPage * pages });
    const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
    const child = at.start('sync', '--json');
    const over = ended(child);
    await Promise.race([asked(sandbox, nth, over), over]);
    child.kill(signal);

    const { status, stdout, stderr } = await over;
    expect(status, stderr).toBe(1);
    const [run] = at.query('SELECT * FROM runs');
    const read = Number(run!['pages']);
    expect(read).toBeLessThan(pages);
    const error = `Interrupted after ${read === 1 ? 'one page' : `${read} pages`}; what was read is kept.`;
    expect(run).toMatchObject({ outcome: 'incomplete', finished_at: expect.any(String) as string, error });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      runs: [{ run_id: run!['id'], outcome: 'incomplete', pages: read, seen: read * perPage }],
    });

    const held = new Set(at.query<{ vendorid: number }>('SELECT vendorid FROM vendors').map((row) => row.vendorid));
    expect(held.size).toBe(read * perPage);
    const source = sandbox.sandbox.vendors(sandbox.account).listed();
    expect(
      differences(
        at,
        source.filter((wire) => held.has(Number(wire['vendorid']))),
      ),
    ).toEqual([]);

    expect((await at.run('sync')).status).toBe(0);
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox })).toEqual([]);
  });
});

describe('an export of an endless query', () => {
  const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
  const query = `SELECT 1 AS n UNION ALL SELECT count(*) FROM (${endless})`;

  async function underWay(): Promise<{ child: ChildProcess; over: ReturnType<typeof ended> }> {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 1 });
    const at = await testbed({ level: 'program', service: sandbox });
    expect((await at.run('sync')).status).toBe(0);
    const child = at.start('export', '-', '--format', 'ndjson', '--query', query);
    const over = ended(child);
    await Promise.race([once(child.stdout!, 'data'), over]);
    return { child, over };
  }

  it.each(['SIGINT', 'SIGTERM'] as const)('ends with %s while SQLite looks for the next row', async (signal) => {
    const { child, over } = await underWay();
    child.kill(signal);
    expect(await over).toEqual({ status: 1, stdout: '{"n":1}\n', stderr: '' });
  });

  it('leaves no process behind when it is killed', async () => {
    const { child, over } = await underWay();
    child.kill('SIGKILL');
    // Standard error is closed when the process that reads the mirror has ended as well.
    expect(await over).toEqual({ status: null, stdout: '{"n":1}\n', stderr: '' });
  });
});

describe('a copy of a large mirror', () => {
  const megabytes = 200;

  /** Resolves when the copy is being written. */
  async function underWay(): Promise<{
    readonly folder: string;
    readonly before: readonly string[];
    readonly child: ChildProcess;
    readonly over: ReturnType<typeof ended>;
  }> {
    const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 1 });
    const at = await testbed({ level: 'program', service: sandbox });
    expect((await at.run('sync')).status).toBe(0);
    const mirror = new Driver(at.database);
    mirror.exec('CREATE TABLE large (bytes BLOB)');
    const insert = mirror.prepare('INSERT INTO large VALUES (zeroblob(1000000))');
    mirror.transaction(() => Array.from({ length: megabytes }, () => insert.run()))();
    mirror.close();
    const before = readdirSync(at.folder).sort();
    const child = at.start('export', join(at.folder, 'copy.db'));
    const over = ended(child);
    const isWritten = (): boolean =>
      readdirSync(at.folder).some((name) => name.startsWith('.copy.db.') && statSync(join(at.folder, name)).size > 0);
    await Promise.race([until(isWritten), over]);
    return { folder: at.folder, before, child, over };
  }

  it.each(['SIGINT', 'SIGTERM'] as const)('ends with %s while SQLite writes it, and leaves no file', async (signal) => {
    const { folder, before, child, over } = await underWay();
    child.kill(signal);
    expect(await over).toEqual({ status: 1, stdout: '', stderr: '' });
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it('leaves no process behind when it is killed', async () => {
    const { folder, before, child, over } = await underWay();
    child.kill('SIGKILL');
    // Standard error is closed when the process that copies has ended as well.
    expect(await over).toEqual({ status: null, stdout: '', stderr: '' });
    expect(readdirSync(folder)).not.toContain('copy.db');
    expect(before).not.toContain('copy.db');
  });
});
