import { once } from 'node:events';
import { setTimeout as later } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { changeSomething } from '../../../src/sandbox/account/churn.ts';
import { asked } from '../../support/test-size.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { integrityOf } from '../../support/mirror-file.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const kills = asked('KILLS', 12, 4);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

/** Kills a sync at some moment: while it opens its files, while pages come, or while it closes. */
async function killSomewhere(at: Testbed<'program'>, sandbox: EmbeddedSandbox, nth: number): Promise<void> {
  const random = seededRandom(seedOf(seed, nth));
  const child = at.start('sync', '--json');
  const exited = once(child, 'exit');
  const requests = random.below(22);
  await Promise.race([exited, requests === 0 ? later(random.below(400)) : heard(sandbox, requests)]);
  await later(random.below(12));
  child.kill('SIGKILL');
  await exited;
}

/** Resolves with the nth request from now on. */
function heard({ sandbox }: EmbeddedSandbox, nth: number): Promise<void> {
  return new Promise((resolve) => {
    let left = nth;
    const stop = sandbox.onRequest(() => {
      if (--left > 0) return;
      stop();
      resolve();
    });
  });
}

/** Kills one sync after the other on one file, and lets one through after each kill. */
async function lane(first: number, step: number): Promise<void> {
  const sandbox = await testbed({
    level: 'sandbox',
    world: { noteInList: 'yes' },
    vendors: 150,
    seed: `kill ${first}`,
  });
  // The service has no copies that lag, so that nothing must be waited for.
  const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
  const vendors = sandbox.sandbox.vendors(sandbox.account);
  const random = seededRandom(seedOf(seed, 'life', first));
  for (let nth = first; nth < kills; nth += step) {
    const where = `seed ${seed}, kill ${nth}`;
    await killSomewhere(at, sandbox, nth);
    at.buryAll();
    expect(integrityOf(at.database), where).toBe('ok');
    for (let change = 0; change < 5; change++) changeSomething(vendors, random);
    const { status, stderr } = await ended(at.start('sync', '--json'));
    expect(status, `${where}: ${stderr}`).toBe(0);
    expect(activeDifferences({ ...at, sandbox: sandbox.sandbox }), where).toEqual([]);
    expect(at.query("SELECT id FROM runs WHERE outcome = 'running'"), where).toEqual([]);
  }
}

describe('a sync that is killed', () => {
  it(
    `F2 A10 leaves an intact file, ${kills} times, and after the next sync the mirror equals the source`,
    async () => {
      await Promise.all([lane(0, 2), lane(1, 2)]);
    },
    60_000 + kills * 10_000,
  );
});
