/** The operator's pages over a large mirror: how long one turn of the event loop takes while they are requested, and without requests. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../../src/domain/clock.ts';
import { adminOf } from '../setup/admin-of.ts';
import type { JobResult } from '../setup/job.ts';
import { fillMirror, type LargeMirror } from '../setup/large-mirror.ts';

export interface PagesResult {
  /** The longest turn in milliseconds, of each sample. */
  readonly ours: readonly number[];
  readonly baseline: readonly number[];
}

export interface PagesParams extends LargeMirror {
  readonly samples: number;
}

/** Asks from a thread of its own, whose work is not this loop's. */
const asker = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', async (urls) => {
    await Promise.all(urls.map(async (url) => (await fetch(url)).arrayBuffer()));
    parentPort.postMessage('answered');
  });`;

const paths = ['/', '/metrics', '/api/status', '/readyz', '/api/vendors', '/api/vendors?search=nobody&limit=200'];

/** Longer than what was asked for is shared, so that each sample has all of the work in it. */
const rest = 4_000;

export async function job(params: PagesParams): Promise<JobResult> {
  const accounts = await fillMirror(params);
  const admin = await adminOf(join(params.folder, 'vendors.db'), accounts);
  const thread = new Worker(asker, { eval: true });
  const urls = paths.map((path) => `http://127.0.0.1:${admin.port}${path}`);
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      thread.once('message', () => resolve());
      thread.postMessage(urls);
    });
  const result = { ours: [] as number[], baseline: [] as number[] };
  await ask();
  for (let sample = 0; sample < params.samples; sample += 1) {
    await pause(rest);
    const begun = performance.now();
    result.ours.push(await longestTurn(ask()));
    const took = performance.now() - begun;
    result.baseline.push(await longestTurn(pause(took)));
  }
  await thread.terminate();
  await admin.stop();
  return { result };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.timer(ms, resolve));
}

/** The longest time that passed between two turns of the event loop, in milliseconds, while the work went on. */
async function longestTurn(work: Promise<void>): Promise<number> {
  let longest = 0;
  const state = { going: true };
  void work.finally(() => (state.going = false));
  for (let last = performance.now(); state.going;) {
    await systemClock.yield();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await work;
  return longest;
}
