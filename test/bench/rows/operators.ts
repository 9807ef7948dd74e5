/** What an operator notices: how long a page holds deliveries up, and how long many accounts take to start. */
import { inTurn, median, type Row } from './figures.ts';
import { withFolder } from '../setup/folder.ts';
import type { PageCostResult } from '../program/page-cost.ts';
import type { PagesResult } from '../program/pages.ts';

/** A turn of the event loop may take so much longer while pages are asked for, in milliseconds. */
const longestTurn = 20;

/** A page that changes may cost so much, in milliseconds of processor time. */
const dearestPage = 20;

/** Many accounts may take so long to start, in milliseconds. */
const longestStart = 10_000;

export const operatorRows: readonly Row[] = [
  {
    name: 'pages',
    work: 'longest turn of the event loop while the dashboard, status, metrics and readiness of a large mirror are asked for',
    baseline: 'in as long a time, while nobody asks',
    goal: { atMost: 20 },
    measure: ({ host, vendors, deliveries, accounts, samples }) =>
      withFolder(async (folder) => {
        const size = { folder, vendors: vendors * 10, deliveries: deliveries * 50, accounts, samples };
        const job = await host.start('pages', size);
        await job.end();
        const result = job.result as PagesResult;
        const more = median(result.ours) - median(result.baseline);
        return {
          unit: 'ms',
          ...result,
          also: [{ what: `${more.toFixed(1)} ms more`, goal: `at most ${longestTurn} ms`, met: more <= longestTurn }],
        };
      }),
  },
  {
    name: 'page',
    work: 'processor time for each change of a page that is open in twenty tabs, with a year of history',
    baseline: 'in one tab',
    goal: { atMost: 3 },
    measure: ({ host, vendors, samples }) =>
      withFolder(async (folder) => {
        const seconds = vendors < 1_000 ? 1 : 10;
        const job = await host.start('page-cost', { folder, vendors, samples, tabs: 20, seconds });
        await job.end();
        const { one, many, first } = job.result as PageCostResult;
        const dearest = median(one);
        return {
          unit: 'ms',
          ours: many,
          baseline: one,
          also: [{ what: `${dearest.toFixed(1)} ms`, goal: `at most ${dearestPage} ms`, met: dearest <= dearestPage }],
          notes: [
            `for each of the twenty tabs: ${(median(many) / 20).toFixed(1)} ms`,
            `the first page after a start, with the history of all vendors: ${first.toFixed(0)} ms`,
          ],
        };
      }),
  },
  {
    name: 'accounts',
    work: 'start of ten times as many accounts, until the listener answers',
    baseline: 'of one account',
    goal: { atMost: 100 },
    async measure({ host, accounts, samples }) {
      const start = (count: number): Promise<number> =>
        withFolder(async (folder) => {
          const job = await host.start('accounts-start', { folder, accounts: count });
          await job.end();
          return (job.result as { ms: number }).ms;
        });
      const taken = await inTurn(
        samples,
        () => start(accounts * 10),
        () => start(1),
      );
      const longest = Math.max(...taken.ours);
      return {
        unit: 'ms',
        ...taken,
        also: [
          {
            what: `${(longest / 1_000).toFixed(1)} s`,
            goal: `at most ${longestStart / 1_000} s`,
            met: longest <= longestStart,
          },
        ],
      };
    },
  },
];
