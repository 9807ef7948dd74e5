/** Full pulls of many accounts by one process, some at a time, and the same again; then a daemon that has nothing to do. */
import pg from 'pg';
import { nodeFetch } from '../../../src/api/http/node-fetch.ts';
import { systemClock, sleep } from '../../../src/domain/clock.ts';
import { eachBounded } from '../../../src/domain/concurrency.ts';
import { timed } from '../baselines/bare-mirror.ts';
import { open, settingsOf, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { daemonWith } from './accounts-start.ts';

export interface AccountsPullResult {
  /** Milliseconds until all had been pulled. */
  readonly first: number;
  /** Of them, of the processor in this process. */
  readonly firstOfProcessor: number;
  /** Milliseconds until all had been pulled again, without a change. */
  readonly again: number;
  readonly againOfProcessor: number;
  /** Of memory, at the end of the pulls. */
  readonly megabytes: number;
  /** Statements a second that a daemon of these accounts sends to a server while nothing happens; 0 where the mirror is a file. */
  readonly atRest: number;
}

/** Accounts at the same time. */
const together = 4;
/** Until what a daemon does when it begins is over, and how long its statements are counted; in milliseconds. */
const begins = 15_000;
const counted = 20_000;

export async function job(place: Place): Promise<JobResult> {
  const installation = await open(place);
  const all = async (): Promise<{ readonly ms: number; readonly ofProcessor: number }> => {
    const before = process.cpuUsage();
    const { ms } = await timed(() =>
      eachBounded(installation.accounts, together, async (account) => {
        const { outcome, error } = await installation.pull(account, {
          kind: 'pull',
          trigger: 'command',
          signal: new AbortController().signal,
        });
        if (outcome !== 'complete') throw error ?? new Error(`The pull of ${account} was not complete.`);
      }),
    );
    const { user, system } = process.cpuUsage(before);
    return { ms, ofProcessor: (user + system) / 1_000 };
  };
  const [first, again] = [await all(), await all()];
  await installation.close();
  const megabytes = process.memoryUsage().rss / 2 ** 20;
  const result: AccountsPullResult = {
    first: first.ms,
    firstOfProcessor: first.ofProcessor,
    again: again.ms,
    againOfProcessor: again.ofProcessor,
    megabytes,
    atRest: place.postgres === undefined ? 0 : await statementsAtRest(place),
  };
  return { result };
}

async function statementsAtRest(place: Place): Promise<number> {
  const prototype = pg.Client.prototype as unknown as { query: (...asked: unknown[]) => unknown };
  const { query } = prototype;
  let statements = 0;
  prototype.query = function (...asked) {
    statements += 1;
    return query.apply(this, asked);
  };
  const daemon = await daemonWith(settingsOf(place), nodeFetch());
  await daemon.start();
  await sleep(systemClock, begins);
  const before = statements;
  await sleep(systemClock, counted);
  const atRest = ((statements - before) * 1_000) / counted;
  await daemon.stop();
  prototype.query = query;
  return atRest;
}
