/** Life at its worst, in virtual time: what is lost is found and counted, and nothing else. */
import { expect, it } from 'vitest';
import { seededRandom } from '../../../src/sandbox/core/random.ts';
import { changeSomething } from '../../../src/sandbox/account/churn.ts';
import { auditLosses } from './loss-audit.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

const planted = 0.2;
const changes = 10 * 300;

it.each(process.env['NIGHTLY'] ? [1, 2, 3, 4, 5] : [1])(
  'C1 C2 C10 B1 under churn, losses, repeats and faults every loss is found, and none invented (seed %i)',
  async (seed) => {
    const at = await testbed({
      level: 'daemon',
      seed: String(seed),
      // Few change twice between two sweeps: a later delivery would hide that an earlier one was lost.
      vendors: 5_000,
      rateLimits: null,
      deliveries: { lose: planted, repeat: 0.2, reorder: 0.3, late: 0.05, delay: [200, 3_000] },
      faults: { '429': 0.025, '500': 0.025 },
      settings: {
        service: {
          baseUrl: 'https://service.example',
          auth: { accessToken: 'a-token' },
          rateLimit: { all: '100000/60s' },
        },
        schedule: { reconcile: '* * * * *' },
      },
    });
    const random = seededRandom(seed);
    for (let change = 0; change < changes; change += 1) {
      changeSomething(at.sandbox.vendors(account), random);
      await at.clock.pass(100);
    }
    // The latest deliveries take ten minutes; a reconciliation follows.
    await at.clock.pass(12 * 60_000);
    await at.untilQuiet();
    await at.untilRuns();

    const { detectable, missing, invented, delivered } = auditLosses(at);
    expect(missing).toEqual([]);
    expect(invented).toEqual([]);
    expect(detectable.length).toBeGreaterThan(250);

    const [health] = at.query<{ loss_rate: number }>('SELECT loss_rate FROM webhook_health');
    const told = detectable.length + delivered;
    const sampling = (rate: number): number => 3 * Math.sqrt((rate * (1 - rate)) / told);
    for (const rate of [planted, detectable.length / told])
      expect(Math.abs(health!.loss_rate - rate)).toBeLessThan(sampling(rate));

    const { signal } = new AbortController();
    const report = await at.beside((installation) =>
      installation.verify(account, { trigger: 'command', signal, isFull: true }),
    );
    expect(report).toMatchObject({ outcome: 'equal', differences: [], inFlight: [] });
  },
  300_000,
);
