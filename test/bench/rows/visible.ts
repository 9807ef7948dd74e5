/** How soon a reader of the mirror sees what a delivery announced. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { inTurn, median, type Figures, type Row, type Sizes } from './figures.ts';
import { withListener } from './deliveries.ts';
import { withService, type Service } from './pulls.ts';
import { withFolder } from '../setup/folder.ts';
import { account, type Place } from '../setup/installation.ts';
import { firstId } from '../setup/texts.ts';
import type { Host, RunningJob } from '../jobs/host.ts';
import { delivery, type ListenerResult } from '../load/delivery-load.ts';
import { Line } from '../load/load.ts';

export const visibleRows: readonly Row[] = [
  {
    name: 'visible',
    work: 'delivery to row visible to a reader',
    baseline: 'an acknowledged delivery, then one read by id and one commit, bare',
    goal: { atMost: 2 },
    measure: visibility,
  },
];

/** Vendors that are followed from their delivery, in one sample. */
export const followed = 40;

function visibility({ host, perPage, samples }: Sizes): Promise<Figures> {
  return withService({ host, vendors: followed * perPage, perPage }, (service) => {
    const place = { baseUrl: service.result.baseUrl, perPage };
    return withListener(host, 'listener', { ...place, worker: true }, (listener, folder) =>
      withBareFollower(host, place, async (followBare) => {
        await listener.ask({});
        const reader = readerOf(folder);
        const follow = follower(service, listener.result, reader.read);
        const taken = await inTurn(
          samples + 1,
          () => follow.each(),
          () => each(followBare),
        );
        follow.end();
        reader.close();
        // The first of each warmed up.
        return { unit: 'ms', ours: taken.ours.slice(1), baseline: taken.baseline.slice(1) };
      }),
    );
  });
}

/** What a vendor's row says of its reading, by its number. */
type Read = (vendorid: number) => string | undefined | Promise<string | undefined>;

export const readingOf = 'SELECT source || read_seq AS reading FROM vendors WHERE account_id =';

export function readerOf(folder: string): { readonly read: Read; readonly close: () => void } {
  const reader = new Driver(join(folder, 'vendors.db'), { readonly: true });
  const statement = reader.prepare<[string, number], string>(`${readingOf} ? AND vendorid = ?`).pluck();
  return { read: (vendorid) => statement.get(account, vendorid), close: () => reader.close() };
}

/** Milliseconds from a delivery until a reader sees what it announced, the median of some vendors. */
export function follower(
  service: Service,
  listener: ListenerResult,
  read: Read,
): { readonly each: () => Promise<number>; readonly end: () => void } {
  const line = new Line(listener.port);
  const follow = async (vendorid: number): Promise<number> => {
    await service.ask({ edit: vendorid });
    const before = await read(vendorid);
    const begun = performance.now();
    const sent = line.send(delivery(listener, vendorid));
    // A timer would add up to its own millisecond.
    while ((await read(vendorid)) === before) await new Promise(setImmediate);
    const ms = performance.now() - begun;
    await sent;
    return ms;
  };
  return {
    each: () => each(follow),
    end: () => line.end(),
  };
}

async function each(one: (vendorid: number) => Promise<number>): Promise<number> {
  const waits: number[] = [];
  for (let index = 0; index < followed; index += 1) waits.push(await one(firstId + index));
  return median(waits);
}

/** Milliseconds until a bare listener has acknowledged a delivery, and until its vendor is read and on disk. */
function withBareFollower<T>(
  host: Host,
  place: Omit<Place, 'folder'>,
  work: (follow: (vendorid: number) => Promise<number>) => Promise<T>,
): Promise<T> {
  return withListener(host, 'bare-listener', { ...place, worker: false }, (listener) =>
    withFolder(async (folder) => {
      const reader = (await host.start('bare-reader', { ...place, folder })) as RunningJob<
        undefined,
        { vendorid: number },
        number
      >;
      const line = new Line(listener.result.port);
      try {
        return await work(async (vendorid) => {
          const begun = performance.now();
          await line.send(delivery(listener.result, vendorid));
          return performance.now() - begun + (await reader.ask({ vendorid }));
        });
      } finally {
        line.end();
        await reader.end();
      }
    }),
  );
}
