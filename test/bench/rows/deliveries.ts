/** How many deliveries are taken, how soon they are acknowledged, and how soon what they announce can be seen. */
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { inTurn, median, quantile, type Figures, type Row, type Sizes } from './figures.ts';
import { withFolder } from '../setup/folder.ts';
import { account, type Place } from '../setup/installation.ts';
import { delivery, deliveries, type ListenerResult } from '../load/delivery-load.ts';
import { Line, rush, stream } from '../load/load.ts';
import type { Host, RunningJob } from '../jobs/host.ts';
import { withService } from './pulls.ts';
import { firstId } from '../setup/texts.ts';

type Listener = RunningJob<ListenerResult, object, string>;

/** Vendors that deliveries are about; the queue has room for more. */
const announced = 5_000;
const connections = 64;

/** A steady load, in deliveries a second: far more than any account sends. */
const steady = 50;
const senders = 8;
/** Vendors that the steady load is about: few, because the pull reads each of them again before it ends. */
const hot = 50;
const longestWait = 250;

export const deliveryRows: readonly Row[] = [
  {
    name: 'deliveries',
    work: `deliveries accepted a second, durable, ${connections} connections`,
    baseline: 'bare node:http, the same signature check, the same grouped commit',
    goal: { atLeast: 0.8 },
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
    work: `p99 of an acknowledgement during a first full pull, ${steady} deliveries a second`,
    baseline: 'p99 without the pull',
    goal: { atMost: 3 },
    measure: acknowledgements,
  },
  {
    name: 'visible',
    work: 'delivery to row visible to a reader',
    baseline: 'one read by number and one commit, bare',
    goal: { atMost: 2 },
    measure: visibility,
  },
];

function withListener<T>(
  host: Host,
  job: 'listener' | 'bare-listener',
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

function acknowledgements(sizes: Sizes): Promise<Figures> {
  return withService(sizes, async (service) => {
    const params = { baseUrl: service.result.baseUrl, perPage: sizes.perPage, worker: false };
    const p99 = async (result: ListenerResult, during: () => Promise<unknown>): Promise<number> =>
      quantile(
        await stream(result.port, deliveries(result, hot), { connections: senders, perSecond: steady, during }),
        0.99,
      );
    const ours: number[] = [];
    const baseline: number[] = [];
    for (let sample = 0; sample < sizes.samples; sample += 1)
      await withListener(sizes.host, 'listener', params, async (listener) => {
        // Begun cold, neither would be what a daemon of some minutes shows.
        await p99(listener.result, () => pause(1_000));
        baseline.push(await p99(listener.result, () => pause((sizes.deliveries / steady) * 25)));
        ours.push(await p99(listener.result, () => listener.ask({})));
      });
    const longest = Math.max(...ours);
    return {
      unit: 'ms',
      ours,
      baseline,
      also: [
        {
          what: `${longest.toFixed(1)} ms at the longest`,
          goal: `at most ${longestWait}`,
          met: longest <= longestWait,
        },
      ],
    };
  });
}

/** Vendors that are followed from their delivery, in one sample. */
const followed = 40;

function visibility({ host, perPage, samples }: Sizes): Promise<Figures> {
  return withService({ host, vendors: followed * perPage, perPage }, (service) => {
    const place = { baseUrl: service.result.baseUrl, perPage };
    return withListener(host, 'listener', { ...place, worker: true }, (listener, folder) =>
      withFolder(async (bareFolder) => {
        await listener.ask({});
        const bare = (await host.start('bare-reader', {
          ...place,
          folder: bareFolder,
        })) as RunningJob<undefined, { vendorid: number }, number>;
        const reader = new Driver(join(folder, 'vendors.db'), { readonly: true });
        const source = reader
          .prepare<[string, number], string>(
            'SELECT source || read_seq FROM vendors WHERE account_id = ? AND vendorid = ?',
          )
          .pluck();
        let round = 0;
        const line = new Line(listener.result.port);
        const follow = async (vendorid: number): Promise<number> => {
          await service.ask({ edit: vendorid, edited: round % 2 === 1 });
          const before = source.get(account, vendorid);
          const begun = performance.now();
          const sent = line.send(delivery(listener.result, vendorid));
          while (source.get(account, vendorid) === before) await pause(0);
          const ms = performance.now() - begun;
          await sent;
          return ms;
        };
        const each = async (one: (vendorid: number) => Promise<number>): Promise<number> => {
          const waits: number[] = [];
          for (let index = 0; index < followed; index += 1) waits.push(await one(firstId + index));
          return median(waits);
        };
        const taken = await inTurn(
          samples + 1,
          () => {
            round += 1;
            return each(follow);
          },
          () => each((vendorid) => bare.ask({ vendorid })),
        );
        line.end();
        reader.close();
        await bare.end();
        // The first of each warmed up.
        return { unit: 'ms', ours: taken.ours.slice(1), baseline: taken.baseline.slice(1) };
      }),
    );
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
