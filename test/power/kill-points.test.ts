import { Driver } from '../../src/store/sqlite/driver-package.ts';
import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { asked } from '../support/test-size.ts';
import { temporaryFolder } from '../support/mirror-file.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { ended } from '../support/testbed/program.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { inspect } from './inspection.ts';
import { countKinds, runDaemon, expectHeals, tapSetup, twoAtATime, type TappedRun } from './processes.ts';
import { readNotes, type Note } from './notes.ts';
import { untappable, type Trap } from './tap.ts';
import { startTapped } from './tapped.ts';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';

/** How many lives end at an operation; nightly as many as there are. */
const kills = asked('KILLS', 12);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

const handshakes = asked('HANDSHAKES', 4);

/** All that changes or syncs a file. */
const everything = 'wstuor';

const nameOf = ({ kinds, nth }: Trap): string => `seed ${seed}, ${kinds}:${nth}`;

/** Where a life ended. */
function phaseOf(life: TappedRun): string {
  if (life.stage !== 'starting') return life.stage;
  return isMigrated(life.at.database) ? 'starting' : 'migrating';
}

function isMigrated(database: string): boolean {
  if (!existsSync(database)) return false;
  const sqlite = new Driver(database);
  try {
    return sqlite.prepare("SELECT name FROM sqlite_schema WHERE name = 'migrations'").get() !== undefined;
  } finally {
    sqlite.close();
  }
}

describe.skipIf(isMissing(untappable))(`a kill${untappable === undefined ? '' : ` (not here: ${untappable})`}`, () => {
  it(
    `F2 F10 C5 at ${kills} operations of a daemon loses nothing, and the next pull completes the mirror`,
    async () => {
      const setup = tapSetup(await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40 }));
      const quiet = await runDaemon(setup);
      const counts = countKinds(quiet.notes);
      const all = quiet.notes.length - counts.a;
      const random = seededRandom(seedOf(seed, 'kills'));
      const spread = Array.from(
        { length: kills },
        (_, index) => 1 + Math.floor((all * (index + random.fraction())) / kills),
      );
      const met = new Map<string, number>();
      const killAt = async (nth: number): Promise<void> => {
        const kill = { kinds: everything, nth };
        const life = await runDaemon(setup, { kill });
        const phase = phaseOf(life);
        met.set(phase, (met.get(phase) ?? 0) + 1);
        await expectHeals(setup, life, `${nameOf(kill)}, ${phase}: ${life.stderr}`);
      };
      await twoAtATime(spread, killAt);
      // Deliveries share commits as they happen to come: a life may have more operations than the quiet one had.
      for (let nth = all; !met.has('stopping'); nth += Math.ceil(all / 50)) await killAt(nth);
      expect([...met.keys()].sort()).toEqual(expect.arrayContaining(['migrating', 'serving', 'stopping']));
    },
    240_000 + kills * 20_000,
  );

  it('F2 C5 between a commit and its answers loses nothing', async () => {
    const setup = tapSetup(await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40 }));
    await twoAtATime([1, 2, 3, 7, 13, 20], async (nth) => {
      const kill = { kinds: 'a', nth };
      const life = await runDaemon(setup, { kill });
      expect([life.status, life.stage], nameOf(kill)).toEqual([null, 'serving']);
      await expectHeals(setup, life, nameOf(kill));
      // What was committed and not answered is there, too: the service sends it again, and it is one mark more.
      const journalled = life.at.query<{ count: number }>('SELECT count(*) AS count FROM deliveries')[0]!.count;
      expect(journalled, nameOf(kill)).toBeGreaterThanOrEqual(nth);
    });
  }, 240_000);

  it(
    'F2 D1 D5 D6 inside the handshake leaves one verified callback after the next start',
    async () => {
      const { library } = tapSetup(await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 }));
      const isVerified = ({ sandbox, account }: EmbeddedSandbox) =>
        sandbox
          .callbacks(account)
          .all()
          .some(({ verified }) => verified);
      /** A first life until the callback is verified, unless it ends before. */
      const handshake = async (kill?: Trap) => {
        const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 20 });
        const at = await testbed({ level: 'program', service: world, listens: true, settings: 'sync: { lag: 0s }' });
        const log = join(temporaryFolder(), 'notes');
        const daemon = startTapped(at, ['serve'], { library, log, ...(kill && { kill }) });
        const exited = once(daemon, 'exit');
        daemon.stderr!.resume();
        await Promise.race([exited, until(() => isVerified(world))]);
        daemon.kill('SIGKILL');
        await exited;
        return { world, at, notes: readNotes(log).filter(({ kind }) => kind !== 'answered') };
      };
      const { notes } = await handshake();
      const locked = notes.findIndex((note) => 'path' in note && note.path.endsWith('.lock'));
      const isSecret = (note: Note): boolean => 'path' in note && note.path.endsWith('secrets.db-wal');
      const points = notes.flatMap((note, index) => (index > locked && isSecret(note) ? [index + 1] : []));
      const chosen = points.filter((_, index) => index % Math.ceil(points.length / handshakes) === 0);
      let inside = 0;
      await twoAtATime(chosen, async (nth) => {
        const kill = { kinds: everything, nth };
        const { world, at, notes: noted } = await handshake(kill);
        if (!isVerified(world) && noted.slice(-3).some(isSecret)) inside += 1;
        expect(await inspect(at.folder, { acknowledged: [], isWhole: () => undefined }), nameOf(kill)).toEqual([]);
        const healed = await at.serve();
        await until(() => isVerified(world));
        await healed.logged('complete');
        expect(await healed.end(), healed.stderr()).toBe(0);
        expect(world.sandbox.callbacks(world.account).all().length, nameOf(kill)).toBe(1);
        expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
      });
      expect(inside).toBeGreaterThan(1);
    },
    240_000 + handshakes * 20_000,
  );

  it('F20 while a copy is written leaves the old copy or the new one', async () => {
    const setup = tapSetup(await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 200 }));
    const at = await testbed({ level: 'program', service: setup.sandbox });
    expect((await at.run('sync')).status).toBe(0);
    const copy = join(at.folder, 'copy.db');
    expect((await at.run('export', copy)).status).toBe(0);
    const old = join(at.folder, 'old.db');
    copyFileSync(copy, old);
    const log = join(temporaryFolder(), 'notes');
    await ended(startTapped(at, ['export', copy], { library: setup.library, log }));
    const all = readNotes(log).length;
    for (let nth = 1; nth <= all; nth += Math.ceil(all / 6)) {
      const kill = { kinds: everything, nth };
      const child = startTapped(at, ['export', copy], { ...setup, log, kill });
      await once(child, 'exit');
      const sqlite = new Driver(copy, { readonly: true });
      expect(sqlite.pragma('integrity_check', { simple: true }), nameOf(kill)).toBe('ok');
      expect(sqlite.prepare('SELECT count(*) FROM vendors').pluck().get(), nameOf(kill)).toBeGreaterThan(0);
      sqlite.close();
    }
  }, 240_000);
});
