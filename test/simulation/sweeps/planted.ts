/** Faults that are planted in the sweep to see whether scripted lists find them: text in place of other text. */

export interface PlantedFault {
  readonly name: string;
  /** One of the seeds whose sweep finds it. */
  readonly seed: number;
  /** Each `search` stands in the source exactly once. */
  readonly changes: readonly { readonly search: string; readonly replace: string }[];
}

export const planted: readonly PlantedFault[] = [
  {
    name: 'overlap not required',
    seed: 8439,
    changes: [
      {
        search: "if (order.key === 'vendorid') return sharesVendor(",
        replace: "if (order.key === 'vendorid') return true || sharesVendor(",
      },
    ],
  },
  {
    name: 'order assumed',
    seed: 269,
    changes: [
      {
        search: 'const isKnown = !isRefuted(this.#pairs[key], key) && rising + falling >= this.#enough;',
        replace: 'const isKnown = true;',
      },
    ],
  },
  {
    name: 'groups of one time split',
    seed: 28791,
    changes: [
      {
        search: 'isOld && position.first(right) < position.last(left)',
        replace: 'isOld && position.first(right) <= position.last(left)',
      },
    ],
  },
  {
    name: 'not full taken for the end',
    seed: 474,
    changes: [
      {
        search: 'return window.pages === window.page && left <= window.size / 2 && window.ids.length <= left;',
        replace: 'return window.ids.length < window.size || left < 0;',
      },
    ],
  },
  {
    name: 'the front not walked again',
    seed: 1496,
    changes: [
      {
        search: "if (direction === 'falling') return this.#readBeginning();",
        replace: "if (direction === 'falling') return this.#left < 0 ? this.#readBeginning() : true;",
      },
    ],
  },
  {
    name: 'the plain walk without entered',
    seed: 380,
    changes: [
      { search: 'if (pass.entered && !pass.atOnce) return', replace: 'if (pass.entered && pass.pages < 0) return' },
    ],
  },
];
