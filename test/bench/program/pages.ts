/** The operator's pages over a large mirror: how long one turn of the event loop takes while they are asked for, and while nobody asks. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Metrics } from '../../../src/admin/metrics/metrics.ts';
import { createAdminServer } from '../../../src/admin/admin-server.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { healthSource } from '../../../src/app/health-source.ts';
import { FiguresThread } from '../../../src/store/figures/figures-thread.ts';
import { openMirror } from '../../../src/store/open/sqlite-store.ts';
import { lockProcess } from '../../../src/store/files/process-lock.ts';
import { compiled } from '../../support/source/compiled.ts';
import { migrations } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { fillMirror, type LargeMirror } from '../setup/large-mirror.ts';

export interface PagesTold {
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
  const mirror = await openMirror({
    path: join(params.folder, 'vendors.db'),
    migrations,
    clock: systemClock,
    random: systemRandom,
    lockProcess,
  });
  const figures = new FiguresThread(compiled.figures, mirror.path);
  const admin = createAdminServer({
    settings: { host: '127.0.0.1', port: 0, publicUrl: null, token: null, maxStaleness: 7_200_000 },
    source: healthSource({
      targets: [],
      version: '0.0.0',
      startedAt: systemClock.now(),
      mirror,
      secrets: mirror,
      connections: { names: ['default'], of: () => 'default' },
      supervisors: new Map(accounts.map((id) => [id, { watchdog: 'hearing', doubt: null, progress: null }])),
      clock: systemClock,
      listener: { listening: true },
      machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
      next: () => ({ pull: undefined, reconcile: undefined }),
    }),
    figures: (id) => figures.read(id),
    actions: { accounts, run: () => undefined, retry: () => Promise.resolve(0) },
    assetFolder: compiled.pages,
    metrics: new Metrics(),
    query: mirror.query,
    clock: systemClock,
    onFault: (error) => {
      throw error;
    },
  });
  await admin.start();
  const thread = new Worker(asker, { eval: true });
  const urls = paths.map((path) => `http://127.0.0.1:${admin.address.port}${path}`);
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      thread.once('message', () => resolve());
      thread.postMessage(urls);
    });
  const told = { ours: [] as number[], baseline: [] as number[] };
  await ask();
  for (let sample = 0; sample < params.samples; sample += 1) {
    await pause(rest);
    const begun = performance.now();
    told.ours.push(await longestTurn(ask()));
    const took = performance.now() - begun;
    told.baseline.push(await longestTurn(pause(took)));
  }
  await thread.terminate();
  await admin.stop();
  await figures.stop();
  await mirror.close();
  return { told };
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
