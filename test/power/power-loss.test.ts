import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changeSomething } from '../../src/sandbox/account/churn.ts';
import { seededRandom } from '../../src/sandbox/core/random.ts';
import { Driver, driverFolder } from '../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../src/store/sqlite/driver.ts';
import { asked } from '../support/test-size.ts';
import { packageRoot, temporaryFolder } from '../support/mirror-file.ts';
import { ended } from '../support/testbed/program.ts';
import { testbed, type Testbed } from '../support/testbed.ts';
import { inspect, lay, readingsIn, vendorsIn, type Fault } from './inspection.ts';
import { filesIn, recorded, statesOf, type AnswerOf, type Recording } from './recording.ts';
import { isMissing } from '../support/needed.ts';
import { compileTap, untappable } from './tap.ts';
import { deliver, introduce, quietDaemon, startTapped, watch } from './tapped.ts';

/** How many states of the disk are checked. */
const states = asked('STATES', 1_000);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

/** What SQLite would do were it not told otherwise: a commit is on disk some time after it was promised. */
const lazySync = `data:text/javascript,${encodeURIComponent(`
import { createRequire } from 'node:module';
const { prototype } = createRequire(${JSON.stringify(join(packageRoot, 'package.json'))})(${JSON.stringify(driverFolder)});
const { exec, pragma } = prototype;
const lazily = (source) => source.replace('synchronous = FULL', 'synchronous = NORMAL');
prototype.exec = function (source) {
  return exec.call(this, lazily(source));
};
prototype.pragma = function (source, options) {
  return source === 'synchronous' ? 2 : pragma.call(this, lazily(source), options);
};`)}`;

interface Lived extends Recording {
  /** What is torn in a mirror; undefined where it holds nothing but what this life has written whole. */
  readonly isWhole: (sqlite: Sqlite) => string | undefined;
}

/** Two daemons take deliveries, one after the other: the first stops cleanly, the second is killed. */
async function deliveries(imports: readonly string[] = []): Promise<Lived> {
  const sandbox = await testbed({ level: 'sandbox', vendors: 60 });
  const at = await testbed({ level: 'program', service: sandbox, settings: quietDaemon });
  const path = await introduce(at);
  const [before, log] = [filesIn(at.folder), join(temporaryFolder(), 'notes')];
  const library = compileTap();
  const vendorids = sandbox.sandbox
    .vendors(sandbox.account)
    .all()
    .map(({ vendorid }) => Number(vendorid));
  const answers: AnswerOf[] = [];
  for (const [first, signal] of [
    [1, 'SIGTERM'],
    [201, 'SIGKILL'],
  ] as const) {
    const daemon = startTapped(at, ['serve'], { library, log, imports });
    const exited = once(daemon, 'exit');
    const listener = await watch(daemon).serving;
    const numbers = Array.from({ length: 200 }, (_, index) => first + index);
    const vendorOf = (number: number): number => vendorids[number % vendorids.length]!;
    const given = await deliver(`${listener}${path}`, { numbers, lanes: 4, vendorOf });
    answers.push(...given.map((answer) => ({ ...answer, process: daemon.pid! })));
    // An answer is noted once it left: what is answered after it comes when the note is there.
    expect((await fetch(listener!)).ok).toBe(false);
    daemon.kill(signal);
    await exited;
  }
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const known = vendorsAt(at);
  const isWhole = (sqlite: Sqlite): string | undefined => strange(sqlite, [known]);
  const recording = recorded(log, { folder: at.folder, before, answers });
  expect(recording.notes.filter(({ kind }) => kind === 'answered')).toHaveLength(answers.length);
  return { ...recording, isWhole };
}

/** Two pulls, the second of which finds changes. */
async function pulls(): Promise<Lived> {
  const sandbox = await testbed({ level: 'sandbox', vendors: 60 });
  const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
  const log = join(temporaryFolder(), 'notes');
  const library = compileTap();
  const known: ReadonlyMap<number, string>[] = [];
  const finals: ReadonlyMap<number, number>[] = [];
  const random = seededRandom(seed);
  for (let nth = 0; nth < 2; nth++) {
    const { status, stderr } = await ended(startTapped(at, ['sync', '--json'], { library, log }));
    expect(status, stderr).toBe(0);
    known.push(vendorsAt(at));
    finals.push(look(at, readingsIn));
    for (let change = 0; change < 20; change++) changeSomething(sandbox.sandbox.vendors(sandbox.account), random);
  }
  const isWhole = (sqlite: Sqlite): string | undefined => {
    const now = readingsIn(sqlite);
    const half = finals.map((final) => halfOfPage(now, final)).find((page) => page !== undefined);
    return half === undefined ? strange(sqlite, known) : `half of reading ${half}`;
  };
  return { ...recorded(log, { folder: at.folder, before: new Map(), answers: [] }), isWhole };
}

/** A reading of which some vendors are here, and others are not yet. */
function halfOfPage(now: ReadonlyMap<number, number>, final: ReadonlyMap<number, number>): number | undefined {
  const here = new Set(now.values());
  const missed = [...final].find(([vendorid, reading]) => here.has(reading) && (now.get(vendorid) ?? 0) < reading);
  return missed?.[1];
}

function look<T>({ database }: Testbed<'program'>, ask: (sqlite: Sqlite) => T): T {
  const sqlite = new Driver(database, { readonly: true });
  try {
    return ask(sqlite);
  } finally {
    sqlite.close();
  }
}

const vendorsAt = (at: Testbed<'program'>): Map<number, string> => look(at, vendorsIn);

/** A vendor that is none of those known, in words. */
function strange(sqlite: Sqlite, known: readonly ReadonlyMap<number, string>[]): string | undefined {
  for (const [vendorid, content] of vendorsIn(sqlite))
    if (!known.some((vendors) => vendors.get(vendorid) === content)) return `vendor ${vendorid}: ${content}`;
  return undefined;
}

/** The faults of `count` states, and in how many something acknowledged was there to be lost. */
async function survey(life: Lived, count: number): Promise<{ faults: (Fault & { at: string })[]; telling: number }> {
  const folder = join(temporaryFolder(), 'found');
  const faults: (Fault & { at: string })[] = [];
  let telling = 0;
  for (const { name, files, acknowledged } of statesOf(life, seed, count)) {
    lay(folder, files);
    if (acknowledged.length > 0) telling += 1;
    for (const fault of await inspect(folder, { acknowledged, isWhole: life.isWhole }))
      faults.push({ ...fault, at: name });
  }
  return { faults, telling };
}

describe.skipIf(isMissing(untappable))(
  `a loss of power${untappable === undefined ? '' : ` (not here: ${untappable})`}`,
  () => {
    it(
      'F1 C5 loses no acknowledged delivery, in any state of the disk',
      async () => {
        const count = Math.ceil((states * 2) / 3);
        const { faults, telling } = await survey(await deliveries(), count);
        expect(faults.slice(0, 5), `${faults.length} of ${count} states, last ${faults.at(-1)?.at}`).toEqual([]);
        expect(telling).toBeGreaterThan(count / 2);
      },
      240_000 + states * 60,
    );

    it(
      'F2 F10 leaves whole pages only, while pulls make and change the mirror',
      async () => {
        const count = Math.ceil(states / 3);
        const { faults } = await survey(await pulls(), count);
        expect(faults.slice(0, 5), `${faults.length} of ${count} states`).toEqual([]);
      },
      240_000 + states * 60,
    );

    it(
      'F1 would lose deliveries if commits were not synced: this test can fail',
      async () => {
        const { faults } = await survey(await deliveries([lazySync]), 150);
        expect(faults.filter(({ kind }) => kind === 'lost').length).toBeGreaterThan(10);
      },
      240_000 + states * 60,
    );
  },
);
