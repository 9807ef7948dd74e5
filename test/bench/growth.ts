/** How the cost of one vendor and of one account grows with their number. */
import { median, type Sizes } from './figures.ts';
import { withFolder } from './folder.ts';
import { finished } from './host.ts';
import { withService } from './pulls.ts';
import type { PullTold } from './pull.ts';

/** What one of `size` costs. */
export interface Point {
  readonly size: number;
  readonly cost: number;
}

export interface Curve {
  readonly name: string;
  readonly unit: 'µs' | 'ms';
  readonly points: readonly Point[];
}

/** From here on one sample is long enough to be steady. */
const steady = 100_000;

export async function measureGrowth(sizes: Sizes, remark: (text: string) => void): Promise<Curve[]> {
  const first: Point[] = [];
  const again: Point[] = [];
  const newborn: Point[] = [];
  for (const vendors of decades(1_000, sizes.vendors * 10)) {
    remark(`measuring ${vendors} vendors\n`);
    const each = (ms: number): Point => ({ size: vendors, cost: (ms / vendors) * 1_000 });
    const { firstMs, againMs } = await twoPulls({ ...sizes, vendors });
    first.push(each(firstMs));
    again.push(each(againMs));
    newborn.push(each((await twoPulls({ ...sizes, vendors }, true)).firstMs));
  }
  const accounts: Point[] = [];
  for (const count of decades(1, sizes.accounts)) {
    remark(`measuring ${count} accounts\n`);
    accounts.push({ size: count, cost: (await accountPulls(sizes, count)) / count });
  }
  return [
    { name: 'first pull, per vendor', unit: 'µs', points: first },
    { name: 'first pull of new vendors, per vendor', unit: 'µs', points: newborn },
    { name: 'unchanged pull, per vendor', unit: 'µs', points: again },
    { name: `first pull of ${sizes.perPage} vendors, per account`, unit: 'ms', points: accounts },
  ];
}

/** 1, 10, 100 and so on, up to the last. */
function decades(first: number, last: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size <= last; size *= 10) sizes.push(size);
  return sizes;
}

function twoPulls(sizes: Sizes, newborn = false): Promise<{ firstMs: number; againMs: number }> {
  return withService({ ...sizes, newborn }, async ({ told: { baseUrl } }) => {
    const firsts: number[] = [];
    const agains: number[] = [];
    for (let sample = 0; sample < (sizes.vendors < steady ? sizes.samples : 1); sample += 1)
      await withFolder(async (folder) => {
        const place = { baseUrl, folder, perPage: sizes.perPage };
        firsts.push(((await finished(sizes.host, 'pull', place)) as PullTold).ms);
        agains.push(((await finished(sizes.host, 'pull', place)) as PullTold).ms);
      });
    return { firstMs: median(firsts), againMs: median(agains) };
  });
}

function accountPulls({ host, perPage, samples: repeats }: Sizes, count: number): Promise<number> {
  return withService({ host, vendors: perPage, perPage }, async ({ told: { baseUrl } }) => {
    const accounts = Array.from({ length: count }, (_, index) => `Account${index}`);
    const samples: number[] = [];
    for (let sample = 0; sample < repeats; sample += 1)
      await withFolder(async (folder) => {
        samples.push(((await finished(host, 'accounts', { baseUrl, folder, perPage, accounts })) as { ms: number }).ms);
      });
    return median(samples);
  });
}
