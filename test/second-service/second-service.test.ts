import { describe, expect, it, onTestFinished } from 'vitest';
import { testbed } from '../support/testbed.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { hurried } from '../support/testbed/program.ts';
import { asked } from '../support/test-size.ts';
import { openBeside } from './beside.ts';
import { Chance, drawChoices, type Choices, type Narrowed } from './service/choices.ts';
import { brokenByRun, differences, lostDeliveries, unheeded } from './promises.ts';
import { SecondService } from './service/second-service.ts';

/** What the program is known to get wrong, or to answer by failing, by the id of the hazard. Whoever mends one widens its axis. */
const narrowed: Narrowed = {
  // L1
  firstPage: [1],
  total: ['right', 'more'],
  pages: ['right', 'of the total'],
  pastEnd: ['empty', 'the last page'],
  // L5, where the daemon waits for the end of a read
  broken: ['none', '410', '400', '500', 'html', 'cut', 'another', 'empty'],
  // L19
  everDifferent: ['nothing'],
  // The program is given one token, which it cannot refresh.
  tokenLives: ['long'],
  ...(JSON.parse(process.env['SECOND_NARROWED'] ?? '{}') as Narrowed),
};

/** What processes are spared besides, which wait in real time: what is refused, broken or unreadable is tried beside daemons in virtual time. */
const spared: Narrowed = {
  sizes: ['honoured', 'capped', 'ignored'],
  stateFilter: ['ignored', 'obeyed', 'obeyed among what is listed'],
  broken: ['none'],
  noBalance: ['zero', 'null'],
  unreadable: ['nothing'],
};

/** How the runs of the daemons ended. */
const outcomes: string[] = [];

const first = asked('SECOND_FROM', 1);
const seedsOf = (count: number): number[] => Array.from({ length: count }, (_, index) => first + index);

describe('beside a service written from the reference alone, judged by its records by id', () => {
  it.each(seedsOf(asked('SECOND_SEEDS', 20)))(
    'a daemon under faults, changes and deliveries ends equal, or says that it is not: seed %i',
    async (seed) => {
      const choices = drawChoices(seed, narrowed);
      const broken: string[] = [];
      const at = await openBeside(choices, (report, now) => broken.push(...brokenByRun(report, now)));
      const { service, clock, runs } = at;
      const chance = new Chance(seed, 'the test');
      service.disturb();
      await clock.until('the first run ended', () => runs.length > 0);
      for (let minute = 0; minute < 6; minute++) {
        if (chance.happens(0.7)) service.live(1 + chance.below(3));
        await at.deliver();
        await clock.pass(60_000);
      }
      service.quiet();
      service.live(2);
      while ((await at.deliver()) > 0);
      await clock.pass(600_000);
      broken.push(...lostDeliveries(at));
      if (choices.read === 'yes') broken.push(...unheeded(at));
      await at.untilRuns(3);
      await clock.pass(60_000);
      const { outcome, error } = runs.at(-1)!;
      outcomes.push(outcome);
      const different = differences(at);
      if (outcome === 'complete') broken.push(...different.map((text) => `complete, but ${text}`));
      else expect(error?.message, `seed ${seed} ends ${outcome} without a word`).toMatch(/\w/);
      const { status } = await at.command('verify');
      if (status === 0) broken.push(...different.map((text) => `verify says equal, but ${text}`));
      expect(broken, told(choices, outcome)).toEqual([]);
    },
  );

  it('most of these services can be mirrored whole', () => {
    const others = outcomes.filter((outcome) => outcome !== 'complete');
    expect(others.length).toBeLessThanOrEqual(1 + outcomes.length / 5);
  });

  it.each(seedsOf(asked('SECOND_PROGRAMS', 4)))(
    'the compiled program mirrors, reconciles and verifies by command: seed %i',
    async (seed) => {
      const { service, at } = await program(seed);
      service.disturb();
      await at.run('sync');
      service.live(6);
      await at.run('sync');
      service.quiet();
      service.live(3);
      await at.run('reconcile');
      const { status, stderr } = await at.run('reconcile');
      const different = differences({ ...at, service });
      if (status === 0) expect(different, told(service.choices, 'exit 0')).toEqual([]);
      else expect(stderr, `seed ${seed} ends with ${status} without a word`).toMatch(/\w/);
      if (different.length > 0) expect((await at.run('verify')).status, told(service.choices, 'verify')).not.toBe(0);
    },
  );

  it.each(seedsOf(asked('SECOND_DAEMONS', 3)))(
    'no delivery that the compiled daemon acknowledged is lost when it is killed: seed %i',
    async (seed) => {
      // What lists show otherwise than reads by id is learned once a sweep has ended; this daemon ends before.
      const { service, at } = await program(seed, { read: ['yes'], listedOtherwise: ['nothing'] }, true);
      const daemon = await at.serve();
      await until(() => service.callbacks.all().some(({ verified }) => verified));
      service.live(8);
      await service.callbacks.deliver();
      await daemon.end('SIGKILL');
      service.live(2);
      await service.callbacks.deliver();
      expect(lostDeliveries({ ...at, service }), told(service.choices, 'killed')).toEqual([]);
      const again = await at.serve();
      while ((await service.callbacks.deliver()) > 0);
      await until(() => at.query('SELECT 1 FROM dirty_vendors WHERE due_at IS NOT NULL').length === 0);
      expect(await again.end()).toBe(0);
      expect(lostDeliveries({ ...at, service }), told(service.choices, 'ended')).toEqual([]);
      expect(unheeded({ ...at, service }), told(service.choices, 'ended')).toEqual([]);
    },
  );
});

async function program(seed: number, more: Narrowed = {}, listens = false) {
  const service = await SecondService.start(drawChoices(seed, { ...narrowed, ...spared, ...more }), Date.now);
  onTestFinished(() => service.close());
  const at = await testbed({
    level: 'program',
    service: { baseUrl: service.baseUrl, token: service.accessToken },
    accounts: [service.account],
    listens,
    // A second proof of an absence may be as near to the first as two commands are.
    settings: 'sync: { lag: 0s, secondLook: 1s }',
    env: hurried,
  });
  return { service, at };
}

function told(choices: Choices, outcome: string): string {
  const chosen = Object.entries(choices).map(([axis, option]) => `${axis}=${String(option)}`);
  return `seed ${choices.seed}, ${outcome}: ${chosen.join(', ')}`;
}
