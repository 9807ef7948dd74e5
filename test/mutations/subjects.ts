/** The files that decide, each with the tests that must notice a change of it, and the changes that nothing can notice. */

export interface Subject {
  readonly file: string;
  /** Patterns of test files. */
  readonly tests: readonly string[];
  /** By the change, why no test notices it: what the program does is the same, or is meant to be open. */
  readonly survivors?: Readonly<Record<string, string>>;
}

/** Of a change with which the file of tests cannot be loaded, so that none of them fails. */
const notLoaded = 'The tests cannot be loaded with it, which StrykerJS does not count.';

export const subjects: readonly Subject[] = [
  { file: 'src/domain/presence.ts', tests: ['test/unit/domain/presence.test.ts'] },
  { file: 'src/sync/breaker.ts', tests: ['test/unit/sync/breaker.test.ts'] },
  {
    file: 'src/sync/absences.ts',
    tests: ['test/unit/sync/absences*.test.ts'],
    survivors: {
      'wait <= 0 → false': 'A sleep of no length ends at once.',
      'wait <= 0 → wait < 0': 'The same.',
      'state !== null → true': 'No list of its own shows vendors without a state.',
      '{ bound: Infinity, since: 0, approved: 0 } → {}': 'No number is beyond what is undefined.',
      '[] → ["Stryker was here"]': 'Without a bound there are always verdicts.',
      'absences.length === 0 → false': 'To store none changes nothing.',
      '!verdicts → false':
        'Reads by id were counted right before: another process would have to store some in between.',
      'hidden?.seen.has(id) !== true → true': 'Who was shown was stored right then, and no older evidence moves that.',
    },
  },
  {
    file: 'src/sync/sweep/passes.ts',
    tests: ['test/unit/sync/sweep/passes.test.ts'],
    survivors: {
      'this.#alike > 1 → true': 'No pass begins later than its own end.',
      'this.#alike > 1 → this.#alike >= 1': 'The same.',
      'before === 0 → false': 'To add to nothing gives the same.',
      'total !== undefined → true': 'Nothing is more than what is undefined.',
    },
  },
  {
    file: 'src/sync/sweep/window-chain.ts',
    tests: ['test/unit/sync/sweep/windows.test.ts'],
    survivors: {
      'position.last(a) - position.last(b) → position.last(a) + position.last(b)':
        'Which of two windows that begin alike is joined first is open: at worst one more is read.',
      '!goesFurther && !isEnd → false': 'To try more windows is as sound, and slower.',
      '[...piece.windows, window].slice(-mostTried) → [...piece.windows, window]':
        'To try more windows is as sound, and slower.',
      '(descending ? -id : id) > last → false': 'Behind its last vendor a window shows none: to look is only slower.',
      'page === 0 → false': 'A list without rows leaves no window as empty as is asked.',
    },
  },
  {
    file: 'src/sync/sweep/walk.ts',
    tests: ['test/unit/sync/sweep/walk.test.ts'],
    survivors: {
      'met.order + orderOn(page, requested) → met.order - orderOn(page, requested)':
        'A hash is as good with either sign.',
      '!seen → true': 'To add once more what was added changes nothing.',
      'requested > last.page → requested >= last.page': 'No page is judged twice.',
      'page > last.page → page >= last.page': 'The last page with rows is not one without.',
      '[] → ["Stryker was here"]': 'Only the second part is looked at.',
      'without.size > 0 → true': 'Where the end was counted, no page is left to request.',
      'without.size > 0 → without.size >= 0': 'The same.',
      'requested < mostPages → true': 'So many pages would take a test seconds.',
      'requested < mostPages → requested <= mostPages': 'The same.',
      'page < last.page → page <= last.page': 'The last page with rows was not refused.',
      'windows[0] !== undefined → true': 'The first page is always there.',
      '!first.rows.some(({ vendorid }) => vendorid === row.vendorid) → false': 'To compare whole pages is only slower.',
      'vendorid === row.vendorid → true': 'The same.',
    },
  },
  { file: 'src/domain/retry.ts', tests: ['test/unit/domain/retry*.test.ts'] },
  {
    file: 'src/api/http/rate-limiter.ts',
    tests: ['test/unit/api/http/rate-limiter.test.ts'],
    survivors: { '\'prompt\' → ""': 'Any priority but background may use the whole rate.' },
  },
  {
    file: 'src/store/rate-ledger.ts',
    tests: ['test/unit/store/rate-ledger.test.ts'],
    survivors: {
      'ends.length === 0 → false': 'A transaction without ends changes nothing.',
      'ends.length > 0 → ends.length >= 0': 'A transaction without ends changes nothing.',
      'isDue && ends.length > 0 → true':
        'After a stop, what is left is written by the closing too, to the same effect.',
      'isDue && ends.length > 0 → isDue || ends.length > 0': 'The same.',
      'last === undefined → true': 'To count each time is only slower.',
      'readSeq - last.readSeq → readSeq + last.readSeq': 'To count too early is only slower.',
      'atMost >= maxUncounted || last.used + atMost >= requests → true': 'To count each time is only slower.',
      'atMost >= maxUncounted → atMost > maxUncounted':
        'Whether ended requests are removed one earlier or later is open.',
      'atMost >= maxUncounted → atMost < maxUncounted': 'To count too early is only slower.',
      'process !== null → true': 'Rows without a process that no longer count were removed right before.',
      '{ used: 0, next: null } → {}': 'A count always has a row.',
    },
  },
  {
    file: 'src/store/reports/feed-cursor.ts',
    tests: ['test/unit/store/reports/feed-cursor.test.ts'],
    survivors: {
      '\'\' → "Stryker was here!"': 'A random name is always drawn.',
      'draw.get({})?.epoch → draw.get({}).epoch': 'A random name is always drawn.',
      'find.get({ seq })?.epoch → find.get({ seq }).epoch': 'A statement without a table always has a row.',
      'last.get({})?.seq → last.get({}).seq': 'The migrations leave a row there.',
      'statement<None, Seq>(sqlite, () => sql`SELECT seq FROM _feed_removed`).get({})?.seq → statement<None, Seq>(sqlite, () => sql`SELECT seq FROM _feed_removed`).get({}).seq':
        'The migrations leave a row there.',
      '[] → ["Stryker was here"]': 'Only the second and third part are looked at.',
    },
  },
  {
    file: 'src/store/acceptance.ts',
    tests: ['test/unit/store/{acceptance,reading-writer*,page-confirmations}.test.ts'],
    survivors: {
      '[] → ["Stryker was here"]': 'No field is called so.',
      'filledIn.length === 0 → false': 'Without fields that are filled in, none is left out.',
    },
  },
  { file: 'src/store/reading-writer.ts', tests: ['test/unit/store/reading-writer*.test.ts'] },
  { file: 'src/store/queue.ts', tests: ['test/unit/store/queue.test.ts'] },
  { file: 'src/store/retention.ts', tests: ['test/unit/store/retention.test.ts'] },
  {
    file: 'src/webhook/delivery.ts',
    tests: ['test/unit/webhook/delivery.*test.ts'],
    survivors: {
      '\'\' → "Stryker was here!"':
        'Every header has a name, every place of an order a key, and no field is called so.',
      'pairs[index]?.[0] → pairs[index][0]': 'Every place of an order has a key.',
      '{ return undefined; } → {}': 'A function without an end returns the same.',
      '!escaped.test(text) → false': 'Plain text is decoded to itself.',
      'text !== undefined → true': 'The word "undefined" is no number either.',
      'query.length === 0 && !hint.test(text) → false': 'A body without a code is only searched in vain.',
      '/verif|code|[%\\\\]/ → /verif|code|[^%\\\\]/': 'A body without a code is only searched in vain.',
      'value === undefined → false': 'What is undefined is no text, object or number.',
      '[] → ["Stryker was here"]': 'An order that names no key leaves them as they arrived, which is tried anyway.',
      'isSigned(pairs, signature, verifiers, this.#learned) → false': 'After the search, the same is asked again.',
      '\'user_id\' → ""': 'It is the last of the order, and keys that are not in the order come last.',
      '\'utf-8\' → ""': notLoaded,
      '(inner) => [false, true].flatMap((slash) => [true, false].map((ascii): Spelling => ({ ascii, slash, inner }))) → () => undefined':
        notLoaded,
      '(slash) => [true, false].map((ascii): Spelling => ({ ascii, slash, inner })) → () => undefined': notLoaded,
      '(ascii): Spelling => ({ ascii, slash, inner }) → () => undefined': notLoaded,
      '{ return [...pairs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))); } → {}': notLoaded,
      '{ const rank = ([name]: Pairs[number]): number => { const at = order.indexOf(name); return at < 0 ? order.length : at; }; return [...pairs].sort((a, b) => rank(a) - rank(b)); } → {}':
        notLoaded,
      '() => 0 → () => undefined': 'Where it is read, undefined means 0.',
    },
  },
  { file: 'src/webhook/delivery-receiver.ts', tests: ['test/unit/webhook/delivery-receiver*.test.ts'] },
];
