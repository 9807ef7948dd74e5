/** How long full pulls take. */
import type { Figures, Row, Sizes } from './figures.ts';
import { inTurn, median } from './figures.ts';
import { bareGet } from '../baselines/bare-get.ts';
import { timed } from '../baselines/bare-mirror.ts';
import { withFolder } from '../setup/folder.ts';
import { concurrency, type Place } from '../setup/installation.ts';
import { finished, type RunningJob } from '../jobs/host.ts';
import type { PullResult } from '../program/pull.ts';
import type { ServiceParams, ServiceQuestion, ServiceResult } from '../load/service.ts';

/** The service, and how it is edited. */
export type Service = RunningJob<ServiceResult, ServiceQuestion, void>;

export async function withService<T>(
  { host, vendors, perPage, latency }: Pick<Sizes, 'host'> & ServiceParams,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = (await host.start('service', { vendors, perPage, latency })) as Service;
  try {
    return await work(service);
  } finally {
    await service.end();
  }
}

export const pullRows: readonly Row[] = [
  {
    name: 'first',
    work: 'first full pull',
    baseline: 'the same bytes fetched and parsed, the same rows written bare',
    goal: { atMost: 1.2 },
    measure: (sizes) =>
      withService(sizes, async ({ result }) => {
        const inNewFolder = (job: 'pull' | 'bare-pull' | 'naive-pull') => () =>
          withFolder((folder) => pulled(sizes, job, placeOf(result, folder, sizes)));
        const naive: Took[] = [];
        const figures = await compared(sizes, inNewFolder('pull'), async () => {
          naive.push(await inNewFolder('naive-pull')());
          return inNewFolder('bare-pull')();
        });
        const part = median(figures.ours) / median(naive.map(({ ms }) => ms));
        const what = `${part.toFixed(2)} × of fetching and upserting into one table, without history`;
        return { ...figures, also: [{ what, goal: `at most ${mostOfNaive} ×`, met: part <= mostOfNaive }] };
      }),
  },
  {
    name: 'unchanged',
    work: 'pull again, nothing changed',
    baseline: 'the same bytes fetched and parsed',
    goal: { atMost: 1.1 },
    measure: (sizes) => again(sizes, 0),
  },
  {
    name: 'edited',
    work: 'pull again, 1 % changed',
    baseline: 'the same bytes fetched and parsed',
    goal: { atMost: 2 },
    measure: (sizes) => again(sizes, 1),
  },
  farRow(50),
  farRow(250),
];

/** Over a long link, a list should be complete after the round trips of its pages, whatever is done between them. */
function farRow(latency: number): Row {
  return {
    name: `far-${latency}`,
    work: `until a first list is complete over a link with a round trip of ${latency} ms, ${concurrency} pages at once`,
    baseline: 'the round trips of its requests, each as a bare client measures it',
    goal: { atMost: 1.1 },
    measure: (sizes) =>
      withService({ ...sizes, latency }, async ({ result }) => {
        const roundTrip = await measuredRoundTrip(result.baseUrl);
        const ours: number[] = [];
        const baseline: number[] = [];
        const whole: number[] = [];
        for (let sample = 0; sample < sizes.samples; sample += 1) {
          const { ms, requests, seconds } = await withFolder((folder) =>
            pulled(sizes, 'pull', placeOf(result, folder, sizes)),
          );
          ours.push(seconds * 1_000);
          baseline.push(Math.ceil(requests / concurrency) * roundTrip);
          whole.push(ms);
        }
        const notes = [
          `a round trip of ${roundTrip.toFixed(1)} ms`,
          `${median(whole).toFixed(0)} ms with the start and the reads by id that follow`,
        ];
        return { unit: 'ms', ours, baseline, notes };
      }),
  };
}

/** The median of twenty requests with small answers, one after another, in milliseconds: the timers of the service are late, too. */
async function measuredRoundTrip(baseUrl: string): Promise<number> {
  const taken: number[] = [];
  for (let request = 0; request < 20; request += 1) {
    const { ms } = await timed(async () => {
      await bareGet(baseUrl, '/gateways');
    });
    taken.push(ms);
  }
  return median(taken);
}

const mostOfNaive = 1.6;

type Took = Pick<PullResult, 'ms' | 'cpuMs'>;
type PullJob = 'pull' | 'bare-pull' | 'naive-pull' | 'bare-fetch';

export async function pulled({ host }: Sizes, job: PullJob, place: Place): Promise<PullResult> {
  return (await finished(host, job, place)) as PullResult;
}

/** Both sides in turn, and what they took of the processor. */
export async function compared(
  sizes: Pick<Sizes, 'samples' | 'vendors'>,
  ours: () => Promise<Took>,
  baseline: () => Promise<Took>,
): Promise<Figures> {
  const used = { ours: [] as number[], baseline: [] as number[] };
  const noting = (side: 'ours' | 'baseline', work: () => Promise<Took>) => async (): Promise<number> => {
    const { ms, cpuMs } = await work();
    used[side].push((cpuMs * 1_000) / sizes.vendors);
    return ms;
  };
  const taken = await inTurn(sizes.samples, noting('ours', ours), noting('baseline', baseline));
  const [of, against] = [median(used.ours).toFixed(1), median(used.baseline).toFixed(1)];
  return { unit: 'ms', ...taken, notes: [`${of} µs of the processor for each vendor against ${against} µs`] };
}

export function placeOf({ baseUrl }: ServiceResult, folder: string, { perPage }: Sizes): Place {
  return { baseUrl, folder, perPage };
}

/** Pulls again and again into one mirror, after so many rounds of edits each time. */
function again(sizes: Sizes, rounds: 0 | 1): Promise<Figures> {
  return withService(sizes, (service) =>
    withFolder(async (folder) => {
      const place = placeOf(service.result, folder, sizes);
      const first = await pulled(sizes, 'pull', place);
      let round = 0;
      const pullAgain = async (): Promise<PullResult> => {
        round += rounds;
        if (rounds > 0) await service.ask({ round });
        const result = await pulled(sizes, 'pull', place);
        const { created, updated } = result;
        if (created > 0 || updated > 0 !== rounds > 0) throw new Error(`Created ${created}, updated ${updated}.`);
        return result;
      };
      const figures = await compared(sizes, pullAgain, () => pulled(sizes, 'bare-fetch', place));
      const part = median(figures.ours) / first.ms;
      const also =
        rounds > 0
          ? []
          : [{ what: `${part.toFixed(2)} of the first pull`, goal: 'at most a third', met: part <= 1 / 3 }];
      return { ...figures, also };
    }),
  );
}
