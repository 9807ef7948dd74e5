/** What a mirror in PostgreSQL costs beside one in a file: the same program in the same run, and no goals. */
import pg from 'pg';
import { deliveries } from '../load/delivery-load.ts';
import { rush } from '../load/load.ts';
import { finished } from '../jobs/host.ts';
import type { AccountsPullResult } from '../program/accounts-pull.ts';
import { withDatabase } from '../setup/database.ts';
import { withFolder } from '../setup/folder.ts';
import { account } from '../setup/installation.ts';
import { announced, connections, withListener, type Listener } from './deliveries.ts';
import { inTurn, median, type Figures, type Row, type Sizes } from './figures.ts';
import { compared, placeOf, pulled, withService } from './pulls.ts';
import { followed, follower, readerOf, readingOf } from './visible.ts';

const baseline = 'the same, in a file';

const vendorsOfMany = 500;

/** Runs work on each of the engines: a new database and a new file. */
type On = <T>(work: (place: { readonly folder: string; readonly postgres?: string }) => Promise<T>) => Promise<T>;

function engines({ postgres }: Sizes): { readonly server: On; readonly file: On } {
  if (postgres === undefined) throw new Error('Name a server: --postgres postgres://user@host/database');
  return {
    server: (work) =>
      withDatabase(postgres, (database) => withFolder((folder) => work({ folder, postgres: database }))),
    file: (work) => withFolder((folder) => work({ folder })),
  };
}

export const postgresRows: readonly Row[] = [
  {
    name: 'postgres-first',
    work: 'first full pull, into PostgreSQL',
    baseline,
    measure: (sizes) =>
      withService(sizes, ({ result }) => {
        const { server, file } = engines(sizes);
        const pull = (on: On) => () =>
          on((place) => pulled(sizes, 'pull', { ...placeOf(result, place.folder, sizes), ...place }));
        return compared(sizes, pull(server), pull(file));
      }),
  },
  { name: 'postgres-unchanged', work: 'pull again, nothing changed', baseline, measure: (sizes) => again(sizes, 0) },
  { name: 'postgres-edited', work: 'pull again, 1 % changed', baseline, measure: (sizes) => again(sizes, 1) },
  {
    name: 'postgres-deliveries',
    work: `deliveries accepted a second, durable, ${connections} connections`,
    baseline,
    async measure(sizes) {
      const { server, file } = engines(sizes);
      const sample = (on: On) => () =>
        on(({ postgres }) =>
          withListener(
            sizes.host,
            'listener',
            { baseUrl: 'http://127.0.0.1:9', perPage: sizes.perPage, worker: false, ...(postgres && { postgres }) },
            async ({ result }) => {
              const sent = deliveries(result, announced);
              await rush(result.port, sent, connections, sizes.deliveries / 4);
              return rush(result.port, sent, connections, sizes.deliveries);
            },
          ),
        );
      return { unit: '/s', ...(await inTurn(sizes.samples, sample(server), sample(file))) };
    },
  },
  {
    name: 'postgres-visible',
    work: 'delivery to row visible to a reader',
    baseline,
    measure: (sizes) =>
      withService({ ...sizes, vendors: followed * sizes.perPage }, (service) => {
        const place = { baseUrl: service.result.baseUrl, perPage: sizes.perPage, worker: true };
        const listening = (
          postgres: string | undefined,
          work: (listener: Listener, folder: string) => Promise<Figures>,
        ) =>
          withListener(
            sizes.host,
            'listener',
            { ...place, ...(postgres && { postgres }) },
            async (listener, folder) => {
              await listener.ask({});
              return work(listener, folder);
            },
          );
        return engines(sizes).server(({ postgres = '' }) =>
          listening(postgres, (onServer) =>
            listening(undefined, async (onFile, folder) => {
              const client = new pg.Client(postgres);
              await client.connect();
              const file = readerOf(folder);
              const [ours, theirs] = [
                follower(service, onServer.result, async (vendorid) => {
                  const text = `${readingOf.replace('vendors', 'vendor_mirror.vendors')} $1 AND vendorid = $2`;
                  const { rows } = await client.query<{ reading: string }>(text, [account, vendorid]);
                  return rows[0]?.reading;
                }),
                follower(service, onFile.result, file.read),
              ];
              const taken = await inTurn(sizes.samples + 1, ours.each, theirs.each);
              for (const { end } of [ours, theirs]) end();
              file.close();
              await client.end();
              // The first of each warmed up.
              return { unit: 'ms', ours: taken.ours.slice(1), baseline: taken.baseline.slice(1) };
            }),
          ),
        );
      }),
  },
  {
    name: 'postgres-accounts',
    work: `first pull of ten times as many accounts with ${vendorsOfMany} vendors and a connection each, for each account`,
    baseline: 'so many accounts in a file, for each account',
    measure: (sizes) =>
      withService({ ...sizes, vendors: vendorsOfMany }, async ({ result }) => {
        const { server, file } = engines(sizes);
        const taken = { ours: [] as AccountsPullResult[], baseline: [] as AccountsPullResult[] };
        const pull = (side: 'ours' | 'baseline', on: On, accounts: number) => () =>
          on(async (place) => {
            const params = { ...placeOf(result, place.folder, sizes), ...place };
            const names = Array.from({ length: accounts }, (_, index) => `a${index}`);
            const pulled = (await finished(sizes.host, 'accounts-pull', {
              ...params,
              accounts: names,
              apart: true,
            })) as AccountsPullResult;
            taken[side].push(pulled);
            return pulled.first / accounts;
          });
        const figures = await inTurn(
          1,
          pull('ours', server, sizes.accounts * 10),
          pull('baseline', file, sizes.accounts),
        );
        const note = (side: 'ours' | 'baseline', accounts: number): string => {
          const of = (key: keyof AccountsPullResult): number => median(taken[side].map((one) => one[key]));
          const [first, again] = [of('first') / 1_000, of('again') / 1_000].map((seconds) => seconds.toFixed(0));
          const [firstOf, againOf] = [of('firstOfProcessor') / accounts, of('againOfProcessor') / accounts];
          const rest = side === 'ours' ? `, ${of('atRest').toFixed(1)} statements a second at rest` : '';
          return `${accounts} accounts: ${first} s for all (${firstOf.toFixed(0)} ms of the processor for each), ${again} s when nothing changed (${againOf.toFixed(0)} ms), ${of('megabytes').toFixed(0)} MB of memory${rest}`;
        };
        return {
          unit: 'ms',
          ...figures,
          notes: [note('ours', sizes.accounts * 10), note('baseline', sizes.accounts)],
        };
      }),
  },
];

/** Pulls again and again into both, each time after the same edits. */
function again(sizes: Sizes, rounds: 0 | 1): Promise<Figures> {
  const { server, file } = engines(sizes);
  return withService(sizes, (service) =>
    server((atServer) =>
      file(async (atFile) => {
        const [ours, theirs] = [atServer, atFile].map(
          (place) => () => pulled(sizes, 'pull', { ...placeOf(service.result, place.folder, sizes), ...place }),
        ) as [() => ReturnType<typeof pulled>, () => ReturnType<typeof pulled>];
        await ours();
        await theirs();
        let round = 0;
        return await compared(sizes, ours, async () => {
          round += rounds;
          if (rounds > 0) await service.ask({ round });
          return theirs();
        });
      }),
    ),
  );
}
