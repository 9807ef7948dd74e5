import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';

it.each(['csv', 'json', 'ndjson', 'parquet'])(
  'K51 export of endless rows, as %s, stops when the pipe is closed, without a message',
  async (format) => {
    const at = await testbed({ level: 'program', service: { vendors: 5 } });
    expect((await at.run('sync')).status).toBe(0);
    const child = at.start('export', '-', '--format', format, '--query', endless);
    await once(child.stdout!, 'readable');
    child.stdout!.destroy();
    const { status, stderr } = await endedWithoutOutput(child);
    expect([status, stderr]).toEqual([1, '']);
  },
);

it.each(['SIGINT', 'SIGTERM'] as const)('export of endless rows stops at %s, and leaves no file', async (signal) => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  expect((await at.run('sync')).status).toBe(0);
  const before = readdirSync(at.folder).sort();
  const child = at.start('export', '-', '--query', endless);
  const over = ended(child);
  await once(child.stdout!, 'data');
  child.kill(signal);
  expect(await over).toMatchObject({ status: 1, stderr: '' });
  expect(readdirSync(at.folder).sort()).toEqual(before);
});

async function endedWithoutOutput(child: ChildProcess): Promise<{ status: number | null; stderr: string }> {
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'exit');
  return { status: child.exitCode, stderr };
}
