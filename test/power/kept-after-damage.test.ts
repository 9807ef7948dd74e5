import { Driver } from '../../src/store/sqlite/driver-package.ts';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asked } from '../support/test-size.ts';
import { temporaryFolder } from '../support/mirror-file.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { ended } from '../support/testbed/program.ts';
import { lay } from './inspection.ts';
import { filesIn, recorded, statesOf, type Recording, type State } from './recording.ts';
import { compileTap, untappable } from './tap.ts';
import { startTapped } from './tapped.ts';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';

/** How many states of the disk are looked at for each. */
const states = Math.ceil(asked('STATES', 2_000) / 15);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

/** What is found after each loss of power, one after the other. */
function* found(life: Recording): Generator<State & { ask: (file: string, sql: string) => unknown }> {
  const folder = join(temporaryFolder(), 'found');
  for (const state of statesOf(life, seed, states)) {
    lay(folder, state.files);
    const ask = (file: string, sql: string): unknown => {
      const sqlite = new Driver(join(folder, file));
      try {
        expect(sqlite.pragma('integrity_check', { simple: true }), state.name).toBe('ok');
        return sqlite.prepare(sql).pluck().get();
      } finally {
        sqlite.close();
      }
    };
    yield { ...state, ask };
  }
}

describe.skipIf(isMissing(untappable))(
  `after a loss of power${untappable === undefined ? '' : ` (not here: ${untappable})`}`,
  () => {
    it(
      'F1 D5 a code whose arrival was acknowledged is on disk',
      async () => {
        const world = await testbed({ level: 'sandbox', vendors: 20 });
        const at = await testbed({ level: 'program', service: world, listens: true, settings: 'sync: { lag: 0s }' });
        const log = join(temporaryFolder(), 'notes');
        const daemon = startTapped(at, ['serve'], { library: compileTap(), log });
        daemon.stderr!.resume();
        await until(() =>
          world.sandbox
            .callbacks(world.account)
            .all()
            .some(({ verified }) => verified),
        );
        daemon.kill('SIGKILL');
        await once(daemon, 'exit');
        const life = recorded(log, { folder: at.folder, before: new Map(), answers: [] });
        let telling = 0;
        for (const { name, answered, ask } of found(life)) {
          if (answered === 0) continue;
          telling += 1;
          expect(ask('secrets.db', 'SELECT count(*) FROM verifiers'), name).toBeGreaterThan(0);
        }
        expect(telling).toBeGreaterThan(states / 4);
      },
      120_000 + states * 600,
    );

    it(
      'F20 a copy for readers is the old one or the new one, whole',
      async () => {
        const sandbox = await testbed({ level: 'sandbox', vendors: 30 });
        const at = await testbed({ level: 'program', service: sandbox });
        const copy = join(at.folder, 'copy.db');
        expect((await at.run('sync')).status).toBe(0);
        expect((await at.run('export', copy)).status).toBe(0);
        sandbox.sandbox.vendors(sandbox.account).create({ vendor_name: 'New', language: 'en' });
        expect((await at.run('sync')).status).toBe(0);
        const [before, log] = [filesIn(at.folder), join(temporaryFolder(), 'notes')];
        const { status } = await ended(startTapped(at, ['export', copy], { library: compileTap(), log }));
        expect(status).toBe(0);
        const life = recorded(log, { folder: at.folder, before, answers: [] });
        const seen = new Set<unknown>();
        for (const { name, ask } of found(life)) {
          const copied = ask('copy.db', "SELECT count(*) FROM vendors WHERE vendor_name = 'New'");
          expect([0, 1], name).toContain(copied);
          seen.add(copied);
        }
        expect(seen.size).toBe(2);
      },
      120_000 + states * 600,
    );
  },
);
