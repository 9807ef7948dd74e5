/** Faults that are planted in the sweep to see whether scripted lists find them. */
import { replacing, type PlantedFault } from '../../support/source/planted-fault.ts';

export interface SweepFault extends PlantedFault {
  /** One of the seeds whose sweep finds it. */
  readonly seed: number;
}

/** Where the faults are listed, for those who plant one. */
export const list = import.meta.url;

export const plantedFaults: readonly SweepFault[] = [
  {
    name: 'overlap not required',
    seed: 17633,
    replacements: [replacing('sync/sweep/window-chain.ts', 'sharesVendor', () => () => true)],
  },
  {
    name: 'order assumed',
    seed: 243,
    replacements: [replacing('sync/sweep/list-order.ts', 'isKnown', () => () => true)],
  },
  {
    name: 'groups of one time split',
    seed: 253259,
    replacements: [
      replacing('sync/sweep/window-chain.ts', 'holdsLastGroup', () => (left, right, position) => {
        return position.first(right) <= position.last(left);
      }),
    ],
  },
  {
    name: 'not full taken for the end',
    seed: 672,
    replacements: [
      replacing('sync/sweep/window-chain.ts', 'holdsEnd', () => ({ ids, size }) => {
        return ids.length < size;
      }),
    ],
  },
  {
    name: 'the last of `pages` taken for the end, whatever it holds',
    seed: 4760,
    replacements: [
      replacing('sync/sweep/window-chain.ts', 'holdsEnd', () => ({ page, pages }) => {
        return page === pages;
      }),
    ],
  },
  {
    name: 'the front not walked again',
    seed: 1496,
    replacements: [replacing('sync/sweep/list-order.ts', 'ObservedOrder.byUpdate', () => () => undefined)],
  },
  {
    name: 'the plain walk without entered',
    seed: 8909,
    replacements: [
      replacing('sync/sweep/passes.ts', 'Passes.add', (add) => {
        return function (pass) {
          return add.call(this, { ...pass, entered: false });
        };
      }),
    ],
  },
  {
    name: 'a pass counts although vendors entered or `total` changed during it',
    seed: 39,
    replacements: [
      replacing('sync/sweep/passes.ts', 'Passes.add', (add) => {
        return function (pass) {
          return add.call(this, { ...pass, total: pass.total ?? pass.ids.size, entered: false });
        };
      }),
    ],
  },
];
