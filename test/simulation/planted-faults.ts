/** Faults that are planted into the program to see whether the simulation finds them: text in place of other text. */
import { keptSeeds } from './kept-seeds.ts';

export interface Change {
  /** Stands in the whole source exactly once. */
  readonly search: string;
  readonly replace: string;
}

/** Which promise must find it: another one that breaks besides proves nothing. */
type PromiseName = `P${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`;

export interface Sabotage {
  readonly name: string;
  readonly promise: PromiseName;
  readonly changes: readonly Change[];
  /** The first seed that is tried: it found it when it was written down. What the program does anew may move that to one of the next few. */
  readonly seed: number;
  /** As `--knobs` takes them, where the situation is rare and a seed's own knobs seldom meet it; without them, the seed draws its own. */
  readonly knobs?: string;
}

/** Whether its promise is among those that broke. */
export function foundBy(promise: string, broken: readonly string[]): boolean {
  return broken.some((words) => words.startsWith(`${promise} `));
}

const sabotage = (name: string, promise: PromiseName, seed: number, search: string, replace: string): Sabotage => ({
  name,
  promise,
  seed,
  changes: [{ search, replace }],
});

const kept = (seed: number): Pick<Sabotage, 'seed' | 'knobs'> => keptSeeds.find((known) => known.seed === seed)!;

/** A walk that proves less is only found out where the proof is content with it. */
const contentProof: Change = {
  search: 'if (shown === pass.total)',
  replace: 'if (shown >= 0)',
};

export const sabotages: readonly Sabotage[] = [
  {
    name: 'stamped when written',
    promise: 'P3',
    seed: 6,
    knobs: 'slow=lists latency=12000 changes=20 hot=yes vendors=20 rows=100 minutes=22',
    changes: [
      {
        search: 'return { stamp: turn.stamp, answer };',
        replace: 'return { stamp: (await nextTurn(attempt)).stamp, answer };',
      },
    ],
  },
  sabotage(
    'applied only where updated_at is newer',
    'P1',
    1,
    'const { vendor, changed } = difference;',
    "const { vendor, changed } = difference;\n    if ((vendor.updated_at ?? '') <= (held.updated_at ?? '')) return unchanged(held);",
  ),
  {
    name: 'trusted wherever updated_at is not older',
    promise: 'P3',
    seed: 6,
    knobs: 'slow=lists latency=12000 changes=20 hot=yes bursts=30 vendors=20 rows=100 minutes=22',
    changes: [
      {
        search:
          "const ruling = guard(held, stamp, context);\n    if (ruling !== 'believed') return outcomeOf(ruling, difference);\n\n",
        replace:
          "const ruling = (vendor.updated_at ?? '') >= (held.updated_at ?? '') ? 'believed' : guard(held, stamp, context);\n    if (ruling !== 'believed') return outcomeOf(ruling, difference);\n\n",
      },
    ],
  },
  sabotage(
    'lag too short',
    'P3',
    75,
    'const wait = held.held_since_ms + lag - stamp.begun;',
    'const wait = held.held_since_ms + lag / 10 - stamp.begun;',
  ),
  sabotage(
    'deliveries told apart by content',
    'P2',
    1,
    'this.#monitor.right(accountId);',
    "this.#monitor.right(accountId);\n    const told = JSON.stringify(delivery);\n    const all = ((this as unknown as { told?: Set<string> }).told ??= new Set());\n    if (all.has(told)) return 'accepted';\n    all.add(told);",
  ),
  sabotage(
    'acknowledged before the commit',
    'P2',
    7,
    'await this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() });',
    'this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() }).catch(() => undefined);',
  ),
  sabotage('acknowledged although the file is locked', 'P2', 4, 'unavailable: 503', 'unavailable: 200'),
  {
    name: 'complete although a page was not there',
    promise: 'P4',
    seed: 8,
    changes: [
      contentProof,
      {
        search: "if (!(error instanceof MirrorError && error.code === 'not_found')) throw error;",
        replace: '',
      },
    ],
  },
  { name: 'one pass only', promise: 'P4', seed: 8, changes: [contentProof] },
  {
    name: 'first page only',
    promise: 'P7',
    seed: 5,
    changes: [contentProof, { search: 'met.pages = Math.min(page.pages, mostPages);', replace: 'met.pages = 1;' }],
  },
  sabotage(
    'no second look',
    'P1',
    2,
    "if (reason !== 'delivery') return { kind: 'settle', outcome: 'unchanged' };",
    "if (reason !== ('never' as string)) return { kind: 'settle', outcome: 'unchanged' };",
  ),
  sabotage(
    'no reconciliation',
    'P1',
    9,
    "if (latest?.outcome !== 'complete') await this.#runs.request({ kind, trigger });",
    "if (latest?.outcome !== 'complete' && trigger !== 'schedule') await this.#runs.request({ kind, trigger });",
  ),
  sabotage('the breaker is off', 'P4', 17, 'return suspects > limit;', 'return suspects > limit + 1e9;'),
  {
    name: 'an error inside HTTP 200 is an empty list',
    promise: 'P7',
    seed: 2,
    knobs: 'outage=errors_in_200 outageMinutes=6',
    changes: [
      {
        search: 'if (!slices?.array) {\n    parseSuccess(bytes);',
        replace:
          'if (!slices?.array) {\n    if (bytes.length > 0) return { stamp, servedAt, page: asked, pages: 0, perPage: 15, total: 0, rows: [] };\n    parseSuccess(bytes);',
      },
    ],
  },
  {
    name: 'an empty list proves that nobody is there',
    promise: 'P4',
    seed: 1,
    knobs: 'outage=empty_list outageMinutes=6 readOne=405 vendors=3',
    changes: [
      {
        search: 'const isBelieved = shown > 0 || approved >= suspects;',
        replace: 'const isBelieved = shown >= 0 || approved >= suspects;',
      },
    ],
  },
  sabotage(
    'the old key dropped at once',
    'P2',
    6,
    'expires_at: timestamp(now + day)',
    'expires_at: timestamp(now - 1)',
  ),
  {
    // A code that comes, and a process that starts where none is known, are looked at: otherwise nothing would ever be registered.
    name: 'the callback never looked at again',
    promise: 'P1',
    seed: 6,
    changes: [
      {
        search: 'await Promise.race([this.subscriptions.checkVendors(), enough]);',
        replace: 'await Promise.race([Promise.resolve(), enough]);',
      },
      {
        search: 'else void this.check();',
        replace:
          'else void this.#options.mirror.knownCallbacks(accountId).then((known) => known.length > 0 || this.check());',
      },
    ],
  },
  {
    name: 'the counter begins anew after a crash',
    promise: 'P3',
    seed: 25,
    changes: [
      {
        search: 'export function readingCounter(database: Database, clock: Clock): Counter {',
        replace:
          'let lives = 0;\nexport function readingCounter(database: Database, clock: Clock): Counter {\n  let own = -1_000 * lives++;',
      },
      {
        search: 'const stamp = { readSeq: read_seq, begun: mirror_ms };',
        replace: 'own += 1;\n    const stamp = { readSeq: own + 0 * read_seq, begun: mirror_ms };',
      },
    ],
  },
  sabotage(
    'mirror time falls back with the machine',
    'P1',
    34,
    "offset_ms: sql`max(offset_ms, mirror_ms - ${at('now')})`,\n        mirror_ms: sql`max(mirror_ms, ${at('now')} + offset_ms)`,",
    "offset_ms: sql`0`,\n        mirror_ms: sql`${at('now')}`,",
  ),
  {
    name: 'settled whatever came meanwhile',
    promise: 'P2',
    seed: 1,
    knobs: 'readOne=405 vendors=20 concurrency=1 latency=12000 minutes=22 changes=20 rows=15 late=0.2 reorder=0.3',
    changes: [
      {
        search: "mirrorSql.deleteFrom('dirty_vendors'), at).where('generation', '=', at('generation')),",
        replace: "mirrorSql.deleteFrom('dirty_vendors'), at),",
      },
      { search: "at,\n    ).where('generation', '=', at('generation')),", replace: 'at,\n    ),' },
    ],
  },
  {
    name: 'unseen once is gone',
    promise: 'P4',
    seed: 7,
    changes: [
      {
        search: 'const read = await readUnseen(',
        replace:
          "const atOnce = unseen.suspects.map((vendorid) => ({ vendorid, absence: 'gone' as const, stamp: swept.began }));\n  await applyAbsences(engine, atOnce, attendance);\n  const read = await readUnseen(",
      },
      {
        search: 'missingSince(began, unseen.again)',
        replace: 'missingSince(began, unseen.suspects)',
      },
    ],
  },
  sabotage(
    'not found once is gone',
    'P4',
    6,
    'await conclude(engine, mark, resultOf(engine, sighting, told), told);',
    "if (sighting.kind === 'absent')\n    await engine.mirror.applyAbsence(mark.vendorid, 'gone', sighting.stamp, attendance.context as never);\n  await conclude(engine, mark, resultOf(engine, sighting, told), told);",
  ),
  sabotage(
    'a run under way is joined',
    'P1',
    3,
    'this.#waiting = undefined;\n      this.#stopping.signal.throwIfAborted();\n      return this.#job({ ...begun, signal: this.#stopping.signal });',
    'this.#stopping.signal.throwIfAborted();\n      const job = this.#job({ ...begun, signal: this.#stopping.signal });\n      return job.finally(() => (this.#waiting = undefined));',
  ),
  sabotage(
    'a code trusted before it is confirmed',
    'P6',
    11,
    "row('state', '=', 'proven'),\n            row.and(",
    "row('state', 'in', ['proven', 'candidate']),\n            row.and(",
  ),
  {
    name: 'a nudge lost',
    promise: 'P1',
    seed: 4,
    knobs: 'vendors=20',
    changes: [
      {
        search: '/** There may be something to do. */\n  nudge(): void {\n    this.#awake = true;\n    this.#wake?.();',
        replace: 'nudge(): void {',
      },
    ],
  },
  sabotage(
    'the order of arrival lost',
    'P1',
    1,
    'const orders = [(pairs: Pairs) => pairs, sorted, inDocumentedOrder];',
    'const orders = [sorted, inDocumentedOrder];',
  ),
  sabotage(
    'signatures not looked at',
    'P6',
    3,
    'if (!given) return false;',
    'if (!given || verifiers.length > 0) return verifiers.length > 0;',
  ),
  sabotage('given up for good', 'P1', 4, "kind === 'reconcile' ? await wakeParked(engine) : []", '[]'),
  {
    name: 'a vendor and its children in two transactions',
    promise: 'P5',
    seed: 19,
    knobs: 'crashes=4 changes=20',
    changes: [
      {
        search: 'childRows.replace(held, vendor, false);',
        replace: 'queueMicrotask(() => sqlite.open && childRows.replace(held, vendor, false));',
      },
    ],
  },
  sabotage(
    "everybody's callback is ours",
    'P9',
    1,
    'return holdsToken(callback.uri, accountId, pathToken) ||',
    "return callback.uri !== '' || holdsToken(callback.uri, accountId, pathToken) ||",
  ),
  {
    name: 'no rate is kept',
    promise: 'P8',
    seed: 11,
    changes: [
      {
        search: 'return this.#under + this.#resting.length >= this.limitOf(priority);',
        replace: 'return this.#under < 0;',
      },
      { search: 'if (used >= requests)', replace: 'if (used < 0)' },
    ],
  },
  {
    name: 'no rate is kept over restarts',
    promise: 'P8',
    seed: 2,
    knobs: 'vendors=45 rows=3 vendorsRate=60 crashes=4 downtime=2 crashOf=process restarts=1 extraWalks=auto',
    changes: [{ search: 'if (used >= requests)', replace: 'if (used < 0)' }],
  },
  {
    name: 'what came too late is news',
    promise: 'P1',
    ...kept(16646),
    seed: 16125,
    changes: [{ search: 'isGuarded || isNews(verdict)', replace: "verdict.kind !== 'unchanged'" }],
  },
  {
    name: 'empty pages are a whole list',
    promise: 'P7',
    ...kept(12086),
    changes: [{ search: 'pages > 1 && unreadable > known', replace: 'pages < 1 && unreadable > known' }],
  },
  {
    name: 'what a page of any account confirmed is newer',
    promise: 'P7',
    seed: 1,
    knobs: 'accounts=2 lose=1 changes=20 latency=4000 crashes=4',
    changes: [
      {
        search: ".select('read_seq')\n      .where('account_id', '=', at('account_id'))",
        replace: ".select('read_seq')",
      },
    ],
  },
  {
    name: 'a mark and its deliveries settled in two transactions',
    promise: 'P2',
    seed: 1,
    knobs: 'changes=20 crashes=4',
    changes: [
      {
        search: 'if (settled) conclude(mark, outcome);',
        replace: 'if (settled) queueMicrotask(() => sqlite.open && conclude(mark, outcome));',
      },
    ],
  },
  sabotage('the path token in the mirror', 'P6', 1, 'uri: withoutToken(callback.uri)', 'uri: callback.uri'),
];
