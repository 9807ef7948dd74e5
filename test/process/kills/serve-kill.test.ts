/** A daemon that is killed, or asked to stop, at any moment while deliveries come. */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { asked } from '../../support/test-size.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { flow, isTaken, missing, taken } from '../../support/testbed/daemon-process.ts';
import { integrityOf } from '../../support/mirror-file.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);
const kills = asked('KILLS', 20);
const stops = asked('STOPS', 3);

/** The service has no copies that lag, so that nothing must be waited for; and a day of changes comes in seconds. */
const settings = 'sync: { lag: 0s, secondLook: 1s, breaker: { vendors: 100000 } }';

/** A service that fails now and then, and whose deliveries get lost, come twice, and overtake each other. */
const troubled = () =>
  testbed({
    level: 'sandbox',
    world: { noteInList: 'yes' },
    vendors: 100,
    seed: `daemon ${seed}`,
    faults: { '429': 0.025, '500': 0.025 },
    deliveries: { delay: [0, 100], lose: 0.05, repeat: 0.1, reorder: 0.1, late: 0.02 },
  });

it(
  `P2 F2 C5 killed ${kills} times under a flow of deliveries, it keeps what it acknowledged, and one reconciliation makes the mirror equal to the source`,
  async () => {
    const world = await troubled();
    const at = await testbed({ level: 'program', service: world, listens: true, settings });
    const random = seededRandom(seedOf(seed, 'kills'));
    const stopFlow = flow(world, seededRandom(seedOf(seed, 'life')));
    for (let nth = 0; nth < kills; nth++) {
      const daemon = at.launch();
      // The first life lasts until the callback is verified; some later ones end before they have begun.
      const starting = nth > 0 && random.happens(0.25);
      await (starting ? later(random.below(600)) : taken(daemon, world, 1 + random.below(30)));
      await later(random.below(12));
      await daemon.end('SIGKILL');
      expect(missing(at, world), `seed ${seed}, kill ${nth}`).toEqual([]);
    }
    stopFlow();
    const daemon = await at.serve();
    const { status, stderr } = await ended(at.start('reconcile'));
    expect(status, stderr).toBe(0);
    expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
    expect(await daemon.end()).toBe(0);
    expect(missing(at, world)).toEqual([]);
    expect(at.query(`SELECT id FROM runs WHERE outcome = 'running'`)).toEqual([]);
    expect(integrityOf(at.database)).toBe('ok');
    expect(world.sandbox.deliveries().filter(isTaken).length).toBeGreaterThan(kills);
  },
  60_000 + kills * 10_000,
);

it(
  `J1 asked to stop ${stops} times under load, it ends cleanly and loses nothing`,
  async () => {
    const world = await troubled();
    const at = await testbed({ level: 'program', service: world, listens: true, settings });
    const random = seededRandom(seedOf(seed, 'stops'));
    flow(world, seededRandom(seedOf(seed, 'stops', 'life')));
    for (let nth = 0; nth < stops; nth++) {
      const where = `seed ${seed}, stop ${nth}`;
      const daemon = await at.serve();
      await (random.happens(0.3) ? later(random.below(300)) : taken(daemon, world, 1 + random.below(40)));
      expect(await daemon.end(random.pick(['SIGTERM', 'SIGINT'])), `${where}: ${daemon.stderr()}`).toBe(0);
      expect(daemon.stderr(), where).toContain('"msg":"stopped"');
      expect(missing(at, world), where).toEqual([]);
      expect(at.query(`SELECT id FROM runs WHERE outcome = 'running'`), where).toEqual([]);
      expect(existsSync(`${at.database}-wal`), where).toBe(false);
    }
  },
  60_000 + stops * 15_000,
);

it('J1 a second signal ends it at once, whatever it still waits for', async () => {
  const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
  const at = await testbed({ level: 'program', service: world, listens: true, settings });
  const daemon = await at.serve();
  // A stop waits a little for deliveries that are on their way.
  const slow = connect(at.listenerPort, '127.0.0.1');
  onTestFinished(() => void slow.destroy());
  slow.on('error', () => undefined);
  slow.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\n');
  await new Promise((resolve) => slow.once('data', resolve));
  daemon.child.kill('SIGTERM');
  await daemon.logged('"msg":"stopping"');
  expect(await daemon.end('SIGTERM')).toBe(1);
  expect(daemon.stderr()).not.toContain('"msg":"stopped"');
});
