/** How many requests a sweep needs while the list changes. */
import { withFolder } from '../setup/folder.ts';
import { finished } from '../jobs/host.ts';
import type { SandboxParams } from '../load/sandbox.ts';
import type { ServiceResult } from '../load/service.ts';
import type { PullResult } from '../program/pull.ts';
import { median, type Figures, type Row, type Sizes } from './figures.ts';

const changes = 10;

type Order = SandboxParams['order'];

/**
 * Ordered by last update, ten rows share each second here, and a window of fifteen cannot hold two such groups: then neither windows nor
 * walks prove anything. So small pages are measured in the order of ids alone.
 */
export const movingRows: readonly Row[] = [
  movingRow('moving', { perPage: 100, orders: ['id', 'updated_newest'], most: 1.3 }),
  movingRow('moving-15', { perPage: 15, orders: ['id'], most: 1.6 }),
];

function movingRow(
  name: string,
  { perPage, orders, most }: { perPage: number; orders: readonly Order[]; most: number },
): Row {
  return {
    name,
    work: `requests until a list with ${changes} changes a second is proven complete, ${perPage} a page`,
    baseline: 'the pages of the list',
    goal: { atMost: most },
    measure: (sizes) => movingLists({ ...sizes, perPage }, orders),
  };
}

/** The samples of all orders; the first pull of each is not counted, because it has vendors to apply. */
async function movingLists(sizes: Sizes, orders: readonly Order[]): Promise<Figures> {
  const ours: number[] = [];
  const notes: string[] = [];
  for (const order of orders) {
    const requests = await movingList(sizes, order);
    ours.push(...requests);
    notes.push(`order=${order}: ${median(requests)} requests`);
  }
  const pages = Math.ceil(sizes.vendors / sizes.perPage);
  return { unit: 'requests', ours, baseline: ours.map(() => pages), notes };
}

async function movingList(
  { host, vendors, perPage, samples }: Sizes,
  order: SandboxParams['order'],
): Promise<number[]> {
  const params: SandboxParams = { vendors, order, changes };
  const sandbox = await host.start('sandbox', params);
  const { baseUrl } = sandbox.result as ServiceResult;
  try {
    return await withFolder(async (folder) => {
      const pull = async (): Promise<number> =>
        ((await finished(host, 'pull', { baseUrl, folder, perPage })) as PullResult).requests;
      await pull();
      const requests: number[] = [];
      for (let sample = 0; sample < samples; sample += 1) requests.push(await pull());
      return requests;
    });
  } finally {
    await sandbox.end();
  }
}
