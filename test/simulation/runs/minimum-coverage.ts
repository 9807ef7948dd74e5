/** How often things must happen at least, in a thousand seeds, for a result without failures to mean something. */
import { fileKnobs } from '../plan/plan.ts';
import { faultKinds } from '../../../src/sandbox/core/worlds.ts';
import type { Met } from './coverage.ts';
import type { Reach } from './reach.ts';

/** About half of what ten times a hundred seeds came to. */
const floors: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.keys(faultKinds).map((kind) => [`fault ${kind}`, 500])),
  'delivery accepted': 40_000,
  'delivery verification': 700,
  'delivery wrong_signature': 5_000,
  'delivery unavailable': 800,
  'reading created': 20_000,
  'reading updated': 20_000,
  'reading guarded': 300,
  'reading stale': 4,
  'process crashes': 500,
  'process insideHandshake': 4,
  'process beforeCommit': 200,
  'process afterCommit': 150,
  'process failedStarts': 15,
  'process restarts': 120,
  'runs complete': 4_000,
  // About a third of what two hundred seeds came to, for each thousand.
  ...Object.fromEntries(
    ['total=fewer', 'total=page', 'pages=one', 'pages=endless', 'listDeleted=recent', 'listArchived=hidden'].map(
      (value) => [`runs complete ${value}`, 500],
    ),
  ),
  'runs complete paging=zero': 150,
  'runs partial': 2_000,
  'runs tripped': 400,
  // Somewhat less than half of what fourteen seeds in which a person writes came to, as two of five seeds do.
  'writes said': 8_000,
  'writes done': 3_500,
  'writes never done': 3_500,
  'writes unanswered': 5_000,
  'writes found done by a look': 900,
  'writes sent again without a look': 450,
  'looks for writes': 20_000,
  ...Object.fromEntries(['lost', 'empty', 'cut off', 'about another'].map((fate) => [`fault write ${fate}`, 350])),
  // About a third of what 43 seeds came to.
  'meeting in doubt × guarded': 80,
  'meeting answered × overtaken': 500,
  'meeting ended × abandoned': 25,
  // Half of what 600 seeds came to, of which one in six has a clock that is set back at all.
  'meeting set back × requested': 16,
  probes: 350,
  absences: 2_500,
  'double edits in a second': 1_000,
};

/** Every value of a knob. */
const knobFloor = 10;
/** With fewer seeds, chance decides. */
const fewest = 200;

/** The share of pairs that must be met; of triples where there are seeds enough for them. */
const mostPairs = 0.99;
const seedsForTriples = 20_000;

/** What happened too seldom, in words. */
export function shortfalls(reach: Reach, seeds: number, coverage: { pairs: Met; triples: Met }): string[] {
  if (seeds < fewest) return [];
  const values = Object.entries(fileKnobs).flatMap(([name, list]) =>
    [...new Set(list)].map((value) => [`knob ${name}=${value}`, knobFloor] as const),
  );
  const { pairs, triples } = coverage;
  const seldom = [...values, ...Object.entries(floors)].flatMap(([what, floor]) => {
    const least = Math.floor((floor * seeds) / 1_000);
    const times = reach[what] ?? 0;
    return times < least ? [`${what}: ${times} times, at least ${least} expected`] : [];
  });
  if (pairs.met < mostPairs * pairs.of) seldom.push('pairs of values');
  if (seeds >= seedsForTriples && triples.met < mostPairs * triples.of) seldom.push('triples of values');
  return seldom;
}
