/** How many deliveries are accepted, and how soon they are acknowledged. */
import { inTurn, median, quantile, type Figures, type Row, type Sizes } from './figures.ts';
import { withFolder } from '../setup/folder.ts';
import type { Place } from '../setup/installation.ts';
import { deliveries, type ListenerResult } from '../load/delivery-load.ts';
import { rush, stream } from '../load/load.ts';
import { finished, type Host, type RunningJob } from '../jobs/host.ts';
import { withService } from './pulls.ts';

export type Listener = RunningJob<ListenerResult, object, string>;

/** Vendors that deliveries are about; the queue has room for more. */
export const announced = 5_000;
export const connections = 64;

/** A steady load, in deliveries a second: far more than any account sends. */
const steady = 50;
const senders = 8;
/** Vendors that the steady load is about: few, because the pull reads each of them again before it ends. */
const hot = 50;
/** Milliseconds that an acknowledgement may take: of a hundred all but one, and the longest. */
const mostOfP99 = 50;
const longestWait = 150;

export const deliveryRows: readonly Row[] = [
  {
    name: 'deliveries',
    work: `deliveries accepted a second, durable, ${connections} connections`,
    baseline: 'bare node:http, the same signature check, the same grouped commit',
    goal: { atLeast: 0.7 },
    async measure(sizes) {
      const sample = (job: 'listener' | 'bare-listener') => () =>
        withListener(
          sizes.host,
          job,
          { baseUrl: 'http://127.0.0.1:9', perPage: sizes.perPage, worker: false },
          async ({ result }) => {
            const sent = deliveries(result, announced);
            await rush(result.port, sent, connections, sizes.deliveries / 4);
            return rush(result.port, sent, connections, sizes.deliveries);
          },
        );
      return { unit: '/s', ...(await inTurn(sizes.samples, sample('listener'), sample('bare-listener'))) };
    },
  },
  {
    name: 'acknowledgement',
    work: `p99 of an acknowledgement during a first full pull, ${steady} deliveries a second, each followed by a reading`,
    baseline: 'p99 of a bare listener that shares its event loop with a pull without history',
    goal: { atMost: 1 },
    measure: (sizes) => acknowledgements(sizes, (listener) => listener.ask({})),
  },
  {
    name: 'acknowledgement-sync',
    work: 'the same during a first full pull by another process',
    baseline: 'the same',
    goal: { atMost: 1 },
    measure: (sizes) => acknowledgements(sizes, (_listener, place) => finished(sizes.host, 'pull', place)),
  },
];

export function withListener<T>(
  host: Host,
  job: 'listener' | 'bare-listener' | 'naive-listener',
  params: Omit<Place, 'folder'> & { readonly worker: boolean },
  work: (listener: Listener, folder: string) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const listener = (await host.start(job, { ...params, folder })) as Listener;
    try {
      return await work(listener, folder);
    } finally {
      await listener.end();
    }
  });
}

/** @param pull begins a first pull beside the listener, and ends with it */
function acknowledgements(
  sizes: Sizes,
  pull: (listener: Listener, place: Place) => Promise<unknown>,
): Promise<Figures> {
  return withService(sizes, async (service) => {
    const { baseUrl } = service.result;
    const { perPage } = sizes;
    const waits = ({ result }: Listener, during: () => Promise<unknown>): Promise<number[]> =>
      stream(result.port, deliveries(result, hot), { connections: senders, perSecond: steady, during });
    const longest: number[] = [];
    const idle: number[] = [];
    const sample = (job: 'listener' | 'naive-listener') => (): Promise<number> =>
      withListener(sizes.host, job, { baseUrl, perPage, worker: true }, async (listener, folder) => {
        // Begun cold, neither would be what a daemon of some minutes shows.
        const alone = await waits(listener, () => pause((sizes.deliveries / steady) * 5));
        const during = await waits(listener, () =>
          job === 'listener' ? pull(listener, { baseUrl, perPage, folder }) : listener.ask({}),
        );
        if (job === 'listener') {
          idle.push(quantile(alone, 0.99));
          longest.push(Math.max(...during));
        }
        return quantile(during, 0.99);
      });
    const taken = await inTurn(sizes.samples, sample('listener'), sample('naive-listener'));
    return {
      unit: 'ms',
      ...taken,
      also: [
        {
          what: `${median(taken.ours).toFixed(1)} ms`,
          goal: `at most ${mostOfP99}`,
          met: median(taken.ours) <= mostOfP99,
        },
        {
          what: `${Math.max(...longest).toFixed(1)} ms at the longest`,
          goal: `at most ${longestWait}`,
          met: Math.max(...longest) <= longestWait,
        },
      ],
      notes: [`p99 without a pull: ${median(idle).toFixed(1)} ms`],
    };
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
