/** A daemon under steady load for a long time: its use of the machine does not grow. SOAK sets the minutes; default 0. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { asked } from '../../support/test-size.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { flow, missing } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

const minutes = asked('SOAK', 0);
const seed = asked('SEED', 1);
/** Milliseconds between two looks. */
const pace = 5_000;
/** Milliseconds between two changes at the service. */
const life = 50;

/** What a process holds of the machine at one moment. */
interface Sample {
  readonly rssMb: number;
  readonly descriptors: number;
  readonly walMb: number;
}

const megabyte = 1024 * 1024;

function sampleOf(pid: number, database: string): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    rssMb: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    walMb: (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) / megabyte,
  };
}

/** The highest of each, in a part of the samples. */
function peak(samples: readonly Sample[]): Sample {
  const highest = (of: keyof Sample): number => Math.max(...samples.map((sample) => sample[of]));
  return { rssMb: highest('rssMb'), descriptors: highest('descriptors'), walMb: highest('walMb') };
}

it.runIf(minutes > 0 && process.platform === 'linux')(
  `J5 for ${minutes} minutes under load it uses no more memory, descriptors and journal than at first`,
  async () => {
    const world = await testbed({
      level: 'sandbox',
      world: { noteInList: 'yes' },
      vendors: 2_000,
      seed: `soak ${seed}`,
      faults: { '429': 0.025, '500': 0.025 },
      deliveries: { delay: [0, 100], lose: 0.1, repeat: 0.1, reorder: 0.1, late: 0.02 },
    });
    const at = await testbed({
      level: 'program',
      service: world,
      listens: true,
      settings:
        'schedule: { pull: "*/5 * * * *", reconcile: "* * * * *" }\nsync: { lag: 0s, secondLook: 1s, breaker: { vendors: 100000 } }',
    });
    const daemon = await at.serveUntilSwept();
    const stopFlow = flow(world, seededRandom(seedOf(seed, 'life')), life);
    const samples: Sample[] = [];
    for (let look = 0; look < (minutes * 60_000) / pace; look++) {
      await later(pace);
      // The analyst, who comes by while it writes.
      expect(at.query<{ n: number }>('SELECT count(*) AS n FROM vendors')[0]!.n).toBeGreaterThan(0);
      samples.push(sampleOf(daemon.child.pid!, at.database));
    }
    stopFlow();
    const { status, stderr } = await ended(at.start('reconcile'));
    expect(status, stderr).toBe(0);
    expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
    expect(missing(at, world)).toEqual([]);
    expect(await daemon.end()).toBe(0);
    // The first quarter warms up.
    const quarter = Math.floor(samples.length / 4);
    const [before, after] = [peak(samples.slice(quarter, 2 * quarter)), peak(samples.slice(-quarter))];
    const deliveries = world.sandbox.deliveries().length;
    process.stdout.write(`${JSON.stringify({ minutes, deliveries, before, after })}\n`);
    expect(after.rssMb).toBeLessThan(1.25 * before.rssMb);
    expect(after.descriptors).toBeLessThan(before.descriptors + 10);
    expect(after.walMb).toBeLessThan(2 * before.walMb + 8);
  },
  minutes * 60_000 + 300_000,
);
