import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { healthSource } from '../../../src/app/daemon.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { openMirror } from '../../../src/store/mirror.ts';
import {
  migrations,
  namedProcess,
  otherConnection,
  temporaryFolder,
  vendor,
  run,
  writeMirror,
} from '../../support/mirror-file.ts';
import { defaultSettings } from '../../support/settings.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

it('K9 reads states of accounts again after a write, by the daemon or another process, on another day, and where a process that runs has ended; and not before', async () => {
  const path = join(temporaryFolder(), 'vendors.db');
  const clock = virtualClock({ auto: true });
  const [one, two] = ['6BApk', 'other'];
  const accounts = [one, two].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' }));
  const running = run(1, { outcome: 'running', finished_at: null, process: 'another' });
  await writeMirror(path, clock, { _accounts: accounts, vendors: [vendor(1)], runs: [running] });
  const mirror = await openMirror({ path, migrations, clock, random: systemRandom, lockProcess: namedProcess() });
  onTestFinished(() => mirror.close());
  let read: string[] = [];
  let isAlive = true;
  const source = healthSource({
    version: '0.2.0',
    start: { at: 0 },
    settings: defaultSettings,
    mirror: {
      path,
      process: { ...mirror.process, isAlive: () => isAlive },
      accountState: (id, carriers) => {
        read.push(id);
        return mirror.accountState(id, carriers);
      },
      query: mirror.query,
      trouble: () => undefined,
      sizes: () => mirror.sizes(),
    },
    connections: { names: [], of: () => 'default' },
    secrets: { trouble: () => undefined },
    accounts: {
      supervisors: new Map([one, two].map((id) => [id, { doubt: null, progress: null }])),
      next: () => undefined,
    },
    listener: { listening: true },
    clock,
    machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
  });
  const facts = async () => {
    read = [];
    const { accounts: known, version } = await source.facts();
    expect(version).toBe('0.2.0');
    return {
      read,
      connection: known[1]?.connection,
      present: known[0]?.counts[0]?.vendors,
      outcome: known[0]?.runs[0]?.outcome,
    };
  };
  expect(await facts()).toMatchObject({ read: [one, two], present: 1 });
  expect(await facts()).toMatchObject({ read: [], present: 1 });
  await mirror.noteClock(7_000);
  expect(await facts()).toMatchObject({ read: [one, two] });
  expect(await facts()).toMatchObject({ read: [] });
  otherConnection(path).exec(`UPDATE _accounts SET connection = 'second' WHERE account_id = '${two}'`);
  expect(await facts()).toMatchObject({ read: [one, two], connection: 'second' });
  await clock.advance(86_400_000);
  expect(await facts()).toMatchObject({ read: [one, two], connection: 'second', outcome: 'running' });
  isAlive = false;
  expect(await facts()).toMatchObject({ read: [one, two], outcome: 'abandoned' });
  expect(await facts()).toMatchObject({ read: [], outcome: 'abandoned' });
});
