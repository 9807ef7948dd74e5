/** How the cost of one vendor and of one account grows with their number. */
import type { Sizes } from './figures.ts';
import { withFolder } from '../setup/folder.ts';
import { finished } from '../jobs/host.ts';
import { withService } from './pulls.ts';
import type { PullResult } from '../program/pull.ts';

/** What one of `size` costs, in each sample. */
export interface Point {
  readonly size: number;
  readonly costs: readonly number[];
}

export interface Curve {
  readonly name: string;
  readonly unit: 'µs' | 'ms';
  readonly points: readonly Point[];
}

/** The sizes at which every sample costs more than every sample of the size before: with three of each or more, noise alone seldom does that. */
export function rises({ points }: Pick<Curve, 'points'>): number[] {
  return points.flatMap(({ size, costs }, index) => {
    const before = points[index - 1]?.costs ?? [Infinity];
    return Math.min(...costs) > Math.max(...before) ? [size] : [];
  });
}

/** Samples go round all sizes, so that all meet the same conditions. */
export async function measureGrowth(sizes: Sizes, printNotice: (text: string) => void): Promise<Curve[]> {
  const vendors = { first: new Samples(), newborn: new Samples(), again: new Samples() };
  const accounts = new Samples();
  for (let round = 1; round <= sizes.samples; round += 1) {
    for (const size of decades(1_000, sizes.vendors * 10)) {
      printNotice(`round ${round}: ${size} vendors\n`);
      const each = (ms: number): number => (ms / size) * 1_000;
      const [first, again] = await pulls({ ...sizes, vendors: size }, 2);
      const [newborn] = await pulls({ ...sizes, vendors: size, newborn: true }, 1);
      vendors.first.add(size, each(first!));
      vendors.again.add(size, each(again!));
      vendors.newborn.add(size, each(newborn!));
    }
    for (const size of decades(1, sizes.accounts)) {
      printNotice(`round ${round}: ${size} accounts\n`);
      accounts.add(size, (await accountPulls(sizes, size)) / size);
    }
  }
  return [
    { name: 'first pull, per vendor', unit: 'µs', points: vendors.first.points },
    { name: 'first pull of new vendors, per vendor', unit: 'µs', points: vendors.newborn.points },
    { name: 'unchanged pull, per vendor', unit: 'µs', points: vendors.again.points },
    { name: `first pull of ${sizes.perPage} vendors, per account`, unit: 'ms', points: accounts.points },
  ];
}

class Samples {
  readonly #costs = new Map<number, number[]>();

  get points(): Point[] {
    return [...this.#costs].map(([size, costs]) => ({ size, costs }));
  }

  add(size: number, cost: number): void {
    this.#costs.set(size, [...(this.#costs.get(size) ?? []), cost]);
  }
}

/** 1, 10, 100 and so on, up to the last. */
function decades(first: number, last: number): number[] {
  const sizes: number[] = [];
  for (let size = first; size <= last; size *= 10) sizes.push(size);
  return sizes;
}

/** Pulls so often into one new mirror. @returns milliseconds of each. */
function pulls(sizes: Parameters<typeof withService>[0], times: number): Promise<number[]> {
  return withService(sizes, ({ result: { baseUrl } }) =>
    withFolder(async (folder) => {
      const taken: number[] = [];
      while (taken.length < times) {
        const result = await finished(sizes.host, 'pull', { baseUrl, folder, perPage: sizes.perPage });
        taken.push((result as PullResult).ms);
      }
      return taken;
    }),
  );
}

function accountPulls({ host, perPage }: Sizes, count: number): Promise<number> {
  return withService({ host, vendors: perPage, perPage }, ({ result: { baseUrl } }) => {
    const accounts = Array.from({ length: count }, (_, index) => `Account${index}`);
    return withFolder(async (folder) => {
      const result = await finished(host, 'accounts', { baseUrl, folder, perPage, accounts });
      return (result as { ms: number }).ms;
    });
  });
}
