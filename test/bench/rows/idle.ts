/** What a daemon with nothing to do costs: how often it wakes, and what it writes. Linux tells both of each process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as later } from 'node:timers/promises';
import { inTurn, median, type Row, type Sizes } from './figures.ts';
import { daemonSettings } from '../setup/daemon.ts';
import { withFolder } from '../setup/folder.ts';
import { program } from '../setup/installation.ts';
import { withService } from './pulls.ts';

/** Wakes a second that are allowed, with one account and with many. */
const [mostOfOne, mostOfMany] = [5, 10];

/** Pages of one list of so many vendors are one. */
const vendors = 10;

interface Idle {
  readonly wakes: number;
  readonly written: number;
}

export const idleRows: readonly Row[] = [
  {
    name: 'idle',
    work: 'how often an idle `serve` with many accounts wakes',
    baseline: 'with one account',
    goal: { atMost: 2 },
    async measure(sizes) {
      const seen: Idle[] = [];
      const wakes = async (accounts: number): Promise<number> => {
        const found = await idle(sizes, accounts);
        seen.push(found);
        return found.wakes;
      };
      const taken = await inTurn(
        sizes.samples,
        () => wakes(sizes.accounts),
        () => wakes(1),
      );
      const [ours, one] = [median(taken.ours), median(taken.baseline)];
      const written = Math.max(...seen.map((found) => found.written));
      return {
        unit: '/s',
        ...taken,
        also: [
          { what: `${ours.toFixed(1)} times a second`, goal: `at most ${mostOfMany}`, met: ours <= mostOfMany },
          { what: `${one.toFixed(1)} with one account`, goal: `at most ${mostOfOne}`, met: one <= mostOfOne },
          { what: `${written} bytes written meanwhile`, goal: 'none', met: written === 0 },
        ],
      };
    },
  },
];

/** Starts a daemon, lets it sweep each account once and come to rest, and watches it for a while. */
function idle({ host, accounts: most }: Sizes, accounts: number): Promise<Idle> {
  return withService({ host, vendors, perPage: 100 }, ({ result: { baseUrl } }) =>
    withFolder(async (folder) => {
      const ids = Array.from({ length: accounts }, (_, index) => `a${index}`);
      const settings = daemonSettings({ baseUrl, folder, perPage: 100, accounts: ids });
      const child = spawn(process.execPath, [program, 'serve', '-c', settings], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const exited = once(child, 'exit');
      let swept = 0;
      for await (const line of createInterface(child.stderr)) {
        swept += Number(line.includes('"msg":"reconcile complete"'));
        if (swept === accounts) break;
      }
      if (swept < accounts) throw new Error('The daemon ended before it had swept each account.');
      child.stderr.resume();
      // A tenth of the time is enough to see that it works.
      const seconds = most >= 100 ? 20 : 2;
      await later(seconds * 500);
      const before = counters(child.pid!);
      await later(seconds * 1_000);
      const after = counters(child.pid!);
      child.kill('SIGTERM');
      await exited;
      return { wakes: (after.wakes - before.wakes) / seconds, written: after.written - before.written };
    }),
  );
}

/** How often the main thread of a process gave the processor back by itself, and how many bytes it had written to disks. */
function counters(pid: number): Idle {
  const told = (file: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]);
  return { wakes: told(`task/${pid}/status`, 'voluntary_ctxt_switches'), written: told('io', 'write_bytes') };
}
