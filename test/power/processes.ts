/** One life of a tapped program that may fail or die at a chosen operation, and what is to be said about it afterwards. */
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { temporaryFolder } from '../support/mirror-file.ts';
import { ended, type Ended } from '../support/testbed/program.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { inspect } from './inspection.ts';
import { readNotes, type Note } from './notes.ts';
import { compileTap, type Failure, type Trap } from './tap.ts';
import { deliver, introduce, quietDaemon, startTapped, watch, type Answer } from './tapped.ts';
import { testbed, type Testbed } from '../support/testbed.ts';

export interface Trouble {
  readonly fail?: Failure;
  readonly kill?: Trap;
}

export interface TappedRun {
  readonly at: Testbed<'program'>;
  /** Exit status; null where a signal ended it. */
  readonly status: number | null;
  readonly stderr: string;
  readonly notes: readonly Note[];
  readonly answers: readonly Answer[];
  /** In which it ended: before it said that it serves; while deliveries came; after it was asked to stop. */
  readonly stage: 'starting' | 'serving' | 'stopping';
}

export interface TapSetup {
  readonly library: string;
  readonly sandbox: EmbeddedSandbox;
}

/** A daemon from its first start on: deliveries come, and then it is asked to stop. */
export async function runDaemon({ library, sandbox }: TapSetup, trouble: Trouble = {}, count = 30): Promise<TappedRun> {
  const at = await testbed({ level: 'program', service: sandbox, settings: quietDaemon });
  const path = await introduce(at);
  const log = join(temporaryFolder(), 'notes');
  const daemon = startTapped(at, ['serve'], { library, log, ...trouble });
  const closed = once(daemon, 'close');
  const { stderr, serving } = watch(daemon);
  const listener = await serving;
  const vendorids = sandbox.sandbox.vendors(sandbox.account).listed();
  const answers =
    listener === undefined
      ? []
      : await deliver(`${listener}${path}`, {
          numbers: Array.from({ length: count }, (_, index) => index + 1),
          lanes: 3,
          vendorOf: (number) => Number(vendorids[number % vendorids.length]!['vendorid']),
        });
  // In its last moments a process has no handler for signals any more.
  const lived = daemon.exitCode === null && daemon.signalCode === null && !stderr().includes('"msg":"stopping"');
  if (lived) daemon.kill('SIGTERM');
  await closed;
  const ended = !lived || answers.some(({ status }) => status === undefined);
  const stage = listener === undefined ? 'starting' : ended ? 'serving' : 'stopping';
  return { at, status: daemon.exitCode, stderr: stderr(), notes: readNotes(log), answers, stage };
}

/** A first pull. */
export async function runPull({ library, sandbox }: TapSetup, trouble: Trouble = {}): Promise<TappedRun & Ended> {
  const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
  const log = join(temporaryFolder(), 'notes');
  const end = await ended(startTapped(at, ['sync', '--json'], { library, log, ...trouble }));
  return { ...end, at, notes: readNotes(log), answers: [], stage: 'starting' };
}

/** The file is sound, all that was acknowledged is in it, and a pull makes it equal to the source. */
export async function expectHeals(
  { sandbox }: Pick<TapSetup, 'sandbox'>,
  life: TappedRun,
  where: string,
): Promise<void> {
  const acknowledged = life.answers.filter(({ status }) => status === 200).map(({ delivery }) => delivery);
  expect(await inspect(life.at.folder, { acknowledged, isWhole: () => undefined }), where).toEqual([]);
  const { status, stderr } = await life.at.run('sync', '--json');
  expect(status, `${where}: ${stderr}`).toBe(0);
  expect(activeDifferences({ ...life.at, sandbox: sandbox.sandbox }), where).toEqual([]);
}

/** How many operations of each kind a life without trouble took. */
export function countKinds(notes: readonly Note[]): Record<'w' | 's' | 't' | 'u' | 'o' | 'a', number> {
  const count = (...kinds: Note['kind'][]): number => notes.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    w: count('written'),
    s: count('synced', 'folder synced'),
    t: count('truncated'),
    u: count('unlinked'),
    o: count('made'),
    a: count('answered'),
  };
}

/** `work` on each item, two at a time: as many as there are processors on the smallest machine. */
export async function twoAtATime<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all([lane(), lane()]);
}

export function tapSetup(sandbox: EmbeddedSandbox): TapSetup {
  return { library: compileTap(), sandbox };
}
