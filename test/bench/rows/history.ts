/** What a long life costs those who look: two years of hourly reconciliations against one day of them. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { inTurn, median, quantile, type Row, type Sizes } from './figures.ts';
import type { LongLifeQuestion } from '../program/long-life.ts';
import { daemonSettings, startDaemon } from '../setup/daemon.ts';
import { withFolder } from '../setup/folder.ts';
import { program } from '../setup/installation.ts';
import { took } from './programs.ts';
import { withService } from './pulls.ts';

/** Of one page; one of them is edited every day. */
const vendors = 100;

const day = 24;
const twoYears = 730 * day;

/** A mirror of so many hours, and what is asked of it. */
interface Life {
  readonly settings: string;
  readonly megabytes: number;
}

const looks = [
  ['start of `serve`', (life: Life) => withDaemon(life, ({ ms }) => Promise.resolve(ms))],
  ['the first page', (life: Life) => withDaemon(life, ({ dashboard }) => fetched(dashboard, '/'))],
  ['the first scrape', (life: Life) => withDaemon(life, ({ dashboard }) => fetched(dashboard, '/metrics'))],
] as const;

export const historyRows: readonly Row[] = [
  {
    name: 'history',
    work: '`status`, from start to exit, after two years of hourly reconciliations',
    baseline: 'after a day of them',
    goal: { atMost: 1.5 },
    measure: (sizes) => {
      // Two days are enough to see that it works.
      const hours = sizes.vendors < 1_000 ? 2 * day : twoYears;
      return withLife(sizes, hours, (long) =>
        withLife(sizes, day, async (short) => {
          const status = ({ settings }: Life): Promise<number> => took([program, 'status', '-c', settings]);
          const taken = await inTurn(
            sizes.samples,
            () => status(long),
            () => status(short),
          );
          const notes = [`the file: ${long.megabytes.toFixed(1)} MB against ${short.megabytes.toFixed(1)} MB`];
          for (const [what, look] of looks) {
            const { ours, baseline } = await inTurn(
              sizes.samples,
              () => look(long),
              () => look(short),
            );
            const spread = [0, 1].map((part) => quantile(ours, part).toFixed(0)).join(' to ');
            notes.push(`${what}: ${median(ours).toFixed(0)} ms (${spread}) against ${median(baseline).toFixed(0)} ms`);
          }
          return { unit: 'ms', ...taken, notes };
        }),
      );
    },
  },
];

function withLife<T>(sizes: Sizes, hours: number, work: (life: Life) => Promise<T>): Promise<T> {
  const { host } = sizes;
  return withService({ host, vendors, perPage: vendors }, (service) =>
    withFolder(async (folder) => {
      const place = { baseUrl: service.result.baseUrl, folder, perPage: vendors };
      const living = await host.start('long-life', { ...place, hours });
      for (let round = 1; round <= hours / day; round += 1) {
        await living.ask({ hours: day } satisfies LongLifeQuestion);
        await service.ask({ round });
      }
      await living.end();
      const settings = daemonSettings(place);
      return work({ settings, megabytes: statSync(join(folder, 'vendors.db')).size / 1e6 });
    }),
  );
}

async function withDaemon(
  { settings }: Life,
  look: (daemon: Awaited<ReturnType<typeof startDaemon>>) => Promise<number>,
): Promise<number> {
  const daemon = await startDaemon(settings);
  try {
    return await look(daemon);
  } finally {
    await daemon.stop();
  }
}

/** Milliseconds until all of it has arrived. */
async function fetched(dashboard: string, path: string): Promise<number> {
  const begun = performance.now();
  await (await fetch(new URL(path, dashboard))).arrayBuffer();
  return performance.now() - begun;
}
