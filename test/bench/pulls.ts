/** How long full pulls take. */
import type { Figures, Row, Sizes } from './figures.ts';
import { inTurn, median } from './figures.ts';
import { withFolder } from './folder.ts';
import type { Place } from './installation.ts';
import { finished, type Standing } from './host.ts';
import type { PullTold } from './pull.ts';
import type { ServiceParams, ServiceQuestion, ServiceTold } from './service.ts';

/** The service, and how it is told of edits. */
type Service = Standing<ServiceTold, ServiceQuestion, void>;

export async function withService<T>(
  { host, vendors, perPage, newborn }: Pick<Sizes, 'host'> & ServiceParams,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = (await host.standing('service', { vendors, perPage, newborn })) as Service;
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
    goal: { atMost: 1.3 },
    measure: (sizes) =>
      withService(sizes, async ({ told }) => {
        const inNewFolder = (job: 'pull' | 'bare-pull') => () =>
          withFolder(
            async (folder) => ((await finished(sizes.host, job, placeOf(told, folder, sizes))) as PullTold).ms,
          );
        return { unit: 'ms', ...(await inTurn(sizes.samples, inNewFolder('pull'), inNewFolder('bare-pull'))) };
      }),
  },
  {
    name: 'unchanged',
    work: 'pull again, nothing changed',
    baseline: 'the same bytes fetched and parsed',
    goal: { atMost: 1 },
    measure: (sizes) => again(sizes, 0),
  },
  {
    name: 'edited',
    work: 'pull again, 1 % changed',
    baseline: 'the same bytes fetched and parsed',
    goal: { atMost: 1.25 },
    measure: (sizes) => again(sizes, 1),
  },
];

function placeOf({ baseUrl }: ServiceTold, folder: string, { perPage }: Sizes): Place {
  return { baseUrl, folder, perPage };
}

/** Pulls again and again into one mirror, after so many rounds of edits each time. */
function again(sizes: Sizes, rounds: 0 | 1): Promise<Figures> {
  return withService(sizes, (service) =>
    withFolder(async (folder) => {
      const place = placeOf(service.told, folder, sizes);
      const first = (await finished(sizes.host, 'pull', place)) as PullTold;
      let round = 0;
      const pullAgain = async (): Promise<number> => {
        round += rounds;
        if (rounds > 0) await service.ask({ round });
        const { ms, created, updated } = (await finished(sizes.host, 'pull', place)) as PullTold;
        if (created > 0 || updated > 0 !== rounds > 0) throw new Error(`Created ${created}, updated ${updated}.`);
        return ms;
      };
      const bareFetch = async (): Promise<number> => ((await finished(sizes.host, 'bare-fetch', place)) as PullTold).ms;
      const taken = await inTurn(sizes.samples, pullAgain, bareFetch);
      const part = median(taken.ours) / first.ms;
      const also =
        rounds > 0
          ? []
          : [{ what: `${part.toFixed(2)} of the first pull`, goal: 'at most a third', met: part <= 1 / 3 }];
      return { unit: 'ms', ...taken, also };
    }),
  );
}
