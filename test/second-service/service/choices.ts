/**
 * Every point that the reference of the accounting service leaves open, with the ways in which a service may decide it. A seed decides
 * all of them. Each axis is drawn from a stream of its own, so that narrowing one leaves the others as they were.
 */

export const axes = {
  // The account
  vendors: [0, 1, 14, 15, 16, 30, 31, 45, 60, 100, 130],
  // The list
  firstPage: [1, 1, 1, 0],
  pageBeforeFirst: ['the first', 'refused', 'empty'],
  sizes: ['honoured', 'capped', 'ignored', 'refused'],
  ownSize: [15, 15, 15, 6, 25],
  largestSize: [100, 100, 20],
  order: ['id', 'newest', 'updated', 'shuffled'],
  total: ['right', 'right', 'fewer', 'more', 'capped', 'this page', 'zero'],
  pages: ['right', 'of the total', 'of another moment', 'one'],
  pastEnd: ['empty', 'empty', '404', 'errno 1014', 'the last page'],
  hidden: ['deleted', 'deleted', 'nothing', 'archived', 'deleted and archived', 'deleted after a while'],
  stateFilter: ['ignored', 'obeyed', 'refused', 'obeyed among what is listed'],
  leftOut: ['nothing', 'nothing', 'note', 'is_1099', 'tax_defaults', 'balances', 'note, is_1099 and website'],
  // A field, and how lists show it.
  listedOtherwise: [
    'nothing',
    'nothing',
    'nothing',
    'balances: none',
    'balances: zero',
    'tax_defaults: none',
    'account_number: masked',
    'account_number: masked of most vendors',
    'website: blank',
    'phone: always the same',
    'note: cut',
  ],
  copiesLag: [0, 0, 0, 400],
  changesBetweenPages: ['none', 'none', 'few', 'many'],
  // One vendor
  read: ['yes', 'yes', 'yes', '404', '405'],
  deletedById: ['shown', 'shown', 'unknown'],
  unknownId: ['404', '404', '410', 'plain 404'],
  broken: ['none', 'none', '410', '400', '500', 'html', 'cut', 'another', 'empty', 'hang'],
  balances: ['list', 'list', 'object'],
  noBalance: ['empty', 'null', 'nulls', 'zero'],
  unreadable: [
    'nothing',
    'nothing',
    'outstanding_balance',
    'overdue_balance',
    'vis_state',
    'is_1099',
    'created_at',
    'phone',
    'tax_defaults',
  ],
  visState: ['number', 'number', 'text'],
  blanks: ['null', 'empty text'],
  zones: ['UTC', 'Eastern', 'created UTC, updated Eastern'],
  everDifferent: ['nothing', 'nothing', 'an unknown field'],
  tidies: ['nothing', 'nothing', 'blanks', 'case', 'entities', 'length'],
  // Gateways
  gateways: ['yes', 'yes', 'no scope', 'absent', 'html'],
  // Callbacks and deliveries
  handshakeBody: ['form', 'form', 'json'],
  handshakeTime: ['after the answer', 'before the answer'],
  handshakeSigned: [true, false],
  codeLength: [32, 30, 34, 5, 300],
  wrongCode: ['422', 'unverified'],
  registeredTwice: ['422', 'another'],
  callbackById: ['yes', '404'],
  deleted: ['{}', '204'],
  signedOrder: ['arrival', 'arrival', 'sorted', 'a fixed one'],
  arrivalOrder: ['fixed', 'shuffled'],
  eventOfDeletion: ['delete', 'update'],
  deliveryOrder: ['as it happened', 'reversed', 'shuffled'],
  repeatedDeliveries: [0, 0, 0.3],
  lostDeliveries: [0, 0, 0.3],
  attempts: [4, 8],
  disables: ['never', 'after 12 failures'],
  // Errors, tokens, transport
  errors: ['accounting', 'accounting', 'accounting object', 'events', 'third', 'html', 'in 200'],
  tokenLives: ['long', 'long', '40 requests'],
  compressed: [true, false],
  faults: [
    'none',
    'none',
    '500',
    '429',
    '503',
    'reset',
    'cut',
    'html',
    'answer lost',
    'empty page',
    'errors in 200',
    'role narrows',
    'all',
  ],
} as const;

export type Axis = keyof typeof axes;
export type Option<A extends Axis> = (typeof axes)[A][number];
export type Choices = { readonly [A in Axis]: Option<A> } & { readonly seed: number };

/** The options that an axis is drawn from instead of all. */
export type Narrowed = { readonly [A in Axis]?: readonly Option<A>[] };

export function drawChoices(seed: number, narrowed: Narrowed = {}): Choices {
  const drawn = Object.keys(axes).map((name) => {
    const axis = name as Axis;
    const options: readonly unknown[] = axes[axis];
    const allowed = narrowed[axis] as readonly unknown[] | undefined;
    // Drawn from all first: a seed keeps its choice where that is among the allowed.
    const chance = new Chance(seed, axis);
    const first = chance.of(options);
    return [axis, allowed === undefined || allowed.includes(first) ? first : chance.of(allowed)];
  });
  return { ...(Object.fromEntries(drawn) as Choices), seed };
}

/** Numbers that depend on a seed and a purpose alone. */
export class Chance {
  #state: number;

  constructor(seed: number, purpose: string) {
    let state = seed >>> 0 || 0x9e3779b9;
    for (const letter of purpose) state = Math.imul(state ^ letter.codePointAt(0)!, 0x01000193) >>> 0;
    this.#state = state;
    this.next();
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  happens(share: number): boolean {
    return this.next() < share;
  }

  of<T>(options: readonly T[]): T {
    return options[this.below(options.length)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }

  text(length: number): string {
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
    return Array.from({ length }, () => letters[this.below(letters.length)]).join('');
  }
}
