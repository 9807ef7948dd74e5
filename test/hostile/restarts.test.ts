import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../src/sandbox/core/random.ts';
import { flow, taken } from '../support/testbed/daemon-process.ts';

import { drivers, hasShell, shells } from '../support/mirror/readers.ts';

const hasPython = spawnSync('python3', ['-c', 'import sqlite3']).status === 0;

/** Opens, asks and closes, without the right to write, and keeps one connection besides. */
const python = `
import signal, sqlite3, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
path, sql = sys.argv[1:]
connect = lambda: sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)
staying = connect()
while True:
    passing = connect()
    for reader in (staying, passing):
        print(reader.execute(sql).fetchone()[0])
    passing.close()
`;
import { testbed } from '../support/testbed.ts';

/** Python in a program of its own, until `over`. @returns every value that was shown. */
async function pythons(path: string, sql: string, over: AbortSignal): Promise<Set<string>> {
  const child = spawn('python3', ['-c', python, path, sql]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed, complaint] = [text(child.stdout), text(child.stderr)];
  over.addEventListener('abort', () => child.kill('SIGTERM'));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`python: ${await complaint}`);
  return new Set((await printed).trim().split('\n'));
}

/** How many vendors there are, and how many of them lack their history or an account. */
const vendorScan = `SELECT count(*) || ' ' || count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM vendor_versions s
  WHERE s.account_id = v.account_id AND s.vendorid = v.vendorid AND s.valid_to IS NULL AND s.raw = v.raw)) FROM vendors v`;

it('F2 F4 F15 F16 eight readers of three kinds keep reading while the daemon is stopped, killed and started again', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 100, deliveries: { delay: [0, 50] } });
  const at = await testbed({
    level: 'program',
    service: world,
    listens: true,
    settings: 'sync: { lag: 0s, breaker: { vendors: 100000 } }',
  });
  const first = await at.serve();
  await first.logged('complete');
  const over = new AbortController();
  const kinds = [drivers, hasShell ? shells : drivers, hasPython ? pythons : drivers];
  const reading = Promise.all(
    Array.from({ length: 8 }, (_, nth) => kinds[nth % 3]!(at.database, vendorScan, over.signal)),
  );
  const stopFlow = flow(world, seededRandom(1));
  try {
    await taken(first, world, 20);
    expect(await first.end('SIGTERM'), first.stderr()).toBe(0);
    const second = await at.serve();
    await taken(second, world, 20);
    await second.end('SIGKILL');
    const third = await at.serve();
    await taken(third, world, 20);
    stopFlow();
    expect(await third.end('SIGTERM'), third.stderr()).toBe(0);
  } finally {
    over.abort();
  }
  for (const shown of await reading) {
    const states = [...shown].map((line) => line.split(' ').map(Number));
    expect(states.filter(([held, torn]) => held! < 100 || torn !== 0)).toEqual([]);
    expect(states.length).toBeGreaterThan(0);
  }
}, 400_000);
