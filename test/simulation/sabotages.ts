/** Faults that are planted into the program to see whether the simulation finds them: text in place of other text. */

export interface Change {
  /** Stands in the whole source exactly once. */
  readonly search: string;
  readonly replace: string;
}

export interface Sabotage {
  readonly name: string;
  readonly changes: readonly Change[];
  /** The first of the seeds from 1 that finds it. */
  readonly seed: number;
}

const sabotage = (name: string, seed: number, search: string, replace: string): Sabotage => ({
  name,
  seed,
  changes: [{ search, replace }],
});

/** A walk that proves less is only found out where the proof is content with it. */
const contentProof: Change = {
  search: 'if (shown === pass.total)',
  replace: 'if (shown >= 0)',
};

export const sabotages: readonly Sabotage[] = [
  sabotage(
    'stamped when written',
    4,
    `const stamp = await seams.takeStamp();
      return { stamp, answer: await leave(attempt) };`,
    'const answer = await leave(attempt);\n      return { stamp: await seams.takeStamp(), answer };',
  ),
  sabotage(
    'applied only where updated_at is newer',
    1,
    'const { vendor, changed } = difference;',
    "const { vendor, changed } = difference;\n    if ((vendor.updated_at ?? '') <= (held.updated_at ?? '')) return unchanged(held);",
  ),
  sabotage(
    'trusted wherever updated_at is not older',
    65,
    "const judgement = judge(held, stamp, context);\n    if (judgement !== 'believed') return judged(judgement, difference);\n\n",
    "const judgement = (vendor.updated_at ?? '') >= (held.updated_at ?? '') ? 'believed' : judge(held, stamp, context);\n    if (judgement !== 'believed') return judged(judgement, difference);\n\n",
  ),
  sabotage(
    'lag too short',
    12,
    'const wait = held.held_since_ms + lag - stamp.begun;',
    'const wait = held.held_since_ms + lag / 10 - stamp.begun;',
  ),
  sabotage(
    'deliveries told apart by content',
    1,
    'this.#deafness.right(accountId);',
    "this.#deafness.right(accountId);\n    const told = JSON.stringify(delivery);\n    const all = ((this as unknown as { told?: Set<string> }).told ??= new Set());\n    if (all.has(told)) return 'accepted';\n    all.add(told);",
  ),
  sabotage(
    'acknowledged before the commit',
    3,
    'await this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() });',
    'this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() }).catch(() => undefined);',
  ),
  sabotage('acknowledged although the file is locked', 3, 'unavailable: 503', 'unavailable: 200'),
  {
    name: 'complete although a page was not there',
    seed: 8,
    changes: [
      contentProof,
      {
        search: "if (!(error instanceof MirrorError && error.code === 'not_found')) throw error;",
        replace: '',
      },
    ],
  },
  { name: 'one pass only', seed: 8, changes: [contentProof] },
  {
    name: 'first page only',
    seed: 5,
    changes: [contentProof, { search: 'met.pages = Math.min(page.pages, mostPages);', replace: 'met.pages = 1;' }],
  },
  sabotage(
    'no second look',
    2,
    "if (mark.reason === 'delivery') await mirror.defer",
    "if (mark.reason === ('never' as string)) await mirror.defer",
  ),
  sabotage(
    'no reconciliation',
    3,
    "if (latest?.outcome !== 'complete') await this.#runs.request({ kind, trigger });",
    "if (latest?.outcome !== 'complete' && trigger !== 'schedule') await this.#runs.request({ kind, trigger });",
  ),
  sabotage('the breaker is off', 4, 'return suspects > limit;', 'return suspects > limit + 1e9;'),
  sabotage(
    'an error inside HTTP 200 is an empty list',
    9,
    'const bytes = removed ? new Uint8Array() : accepted(answer, seams.clock);',
    'const whole = removed ? new Uint8Array() : accepted(answer, seams.clock);\n    const empty = { page: 1, pages: 0, per_page: 15, total: 0, bill_vendors: [], gateways: [], callbacks: [] };\n    const isError = /^.{0,20}"errors"/.test(Buffer.from(whole).toString());\n    const bytes = isError ? Buffer.from(JSON.stringify({ response: { result: empty } })) : whole;',
  ),
  sabotage(
    'an empty list proves that nobody is there',
    82,
    'const believed = shown > 0 || approved >= unseen.suspects.length;',
    'const believed = shown >= 0 || approved >= unseen.suspects.length;',
  ),
  sabotage('the old key dropped at once', 58, 'expires_at: timestamp(now + day)', 'expires_at: timestamp(now - 1)'),
  sabotage(
    'the callback looked at only once',
    14,
    'await Promise.race([this.keeper.check(), enough]);',
    'await Promise.race([Promise.resolve(), enough]);',
  ),
  {
    name: 'the counter begins anew after a crash',
    seed: 4,
    changes: [
      {
        search: 'export function readingCounter(database: Database, clock: Clock): Counter {',
        replace: 'export function readingCounter(database: Database, clock: Clock): Counter {\n  let own = 0;',
      },
      {
        search: 'return { readSeq: read_seq, begun: mirror_ms };',
        replace: 'own += 1;\n        return { readSeq: own + 0 * read_seq, begun: mirror_ms };',
      },
    ],
  },
  sabotage(
    'mirror time falls back with the machine',
    34,
    'offset_ms: sql`max(offset_ms, mirror_ms - ${at.now})`,\n        mirror_ms: sql`max(mirror_ms, ${at.now} + offset_ms)`,',
    'offset_ms: sql`0`,\n        mirror_ms: sql`${at.now}`,',
  ),
  sabotage('a nudge lost', 56, 'this.#awake = true;\n    this.#wake?.();', ''),
  sabotage(
    'the order of arrival lost',
    3,
    'const orders = [(pairs: Pairs) => pairs, sorted, inDocumentedOrder];',
    'const orders = [sorted, inDocumentedOrder];',
  ),
  sabotage(
    'signatures not looked at',
    3,
    'if (!given) return false;',
    'if (!given || verifiers.length > 0) return verifiers.length > 0;',
  ),
  sabotage('given up for good', 4, "if (options.kind === 'reconcile') await wakeParked(engine);", ''),
  sabotage(
    'a vendor and its children in two transactions',
    30,
    'kin.replace(held, vendor, false);',
    'queueMicrotask(() => sqlite.open && kin.replace(held, vendor, false));',
  ),
  sabotage(
    "everybody's callback is ours",
    1,
    'return holdsToken(callback.uri, accountId, pathToken) ||',
    "return callback.uri !== '' || holdsToken(callback.uri, accountId, pathToken) ||",
  ),
  sabotage(
    'no rate is kept',
    10,
    'this.#under + this.#resting.length >= this.#rate.requests) break;',
    'this.#under < 0) break;',
  ),
  sabotage('the path token in the mirror', 1, 'uri: withoutToken(callback.uri)', 'uri: callback.uri'),
];
