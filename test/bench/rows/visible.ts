/** How soon a reader of the mirror sees what a delivery announced. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { inTurn, median, type Figures, type Row, type Sizes } from './figures.ts';
import { withListener } from './deliveries.ts';
import { withService } from './pulls.ts';
import { withFolder } from '../setup/folder.ts';
import { account, type Place } from '../setup/installation.ts';
import { firstId } from '../setup/texts.ts';
import type { Host, RunningJob } from '../jobs/host.ts';
import { delivery } from '../load/delivery-load.ts';
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
const followed = 40;

function visibility({ host, perPage, samples }: Sizes): Promise<Figures> {
  return withService({ host, vendors: followed * perPage, perPage }, (service) => {
    const place = { baseUrl: service.result.baseUrl, perPage };
    return withListener(host, 'listener', { ...place, worker: true }, (listener, folder) =>
      withBareFollower(host, place, async (followBare) => {
        await listener.ask({});
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
          // A timer would add up to its own millisecond.
          while (source.get(account, vendorid) === before) await new Promise(setImmediate);
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
          () => each(followBare),
        );
        line.end();
        reader.close();
        // The first of each warmed up.
        return { unit: 'ms', ours: taken.ours.slice(1), baseline: taken.baseline.slice(1) };
      }),
    );
  });
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
