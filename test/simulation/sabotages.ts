/** Faults that are planted into the program to see whether the simulation finds them: text in place of other text. */
import { keptSeeds } from './kept-seeds.ts';

export interface Change {
  /** Stands in the whole source exactly once. */
  readonly search: string;
  readonly replace: string;
}

export interface Sabotage {
  readonly name: string;
  readonly changes: readonly Change[];
  /** One of the first four hundred seeds or a kept one, which finds it. */
  readonly seed: number;
  /** As `--knobs` takes them, where the situation is rare and a seed's own knobs seldom meet it; without them, the seed draws its own. */
  readonly knobs?: string;
}

const sabotage = (name: string, seed: number, search: string, replace: string): Sabotage => ({
  name,
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
    seed: 6,
    knobs: 'slow=lists latency=12000 changes=20 hot=yes vendors=20 rows=100 minutes=22',
    changes: [
      {
        search: `const stamp = await seams.takeStamp();
      return { stamp, answer: await leave(attempt) };`,
        replace: 'const answer = await leave(attempt);\n      return { stamp: await seams.takeStamp(), answer };',
      },
    ],
  },
  sabotage(
    'applied only where updated_at is newer',
    1,
    'const { vendor, changed } = difference;',
    "const { vendor, changed } = difference;\n    if ((vendor.updated_at ?? '') <= (held.updated_at ?? '')) return unchanged(held);",
  ),
  sabotage(
    'trusted wherever updated_at is not older',
    33,
    "const judgement = judge(held, stamp, context);\n    if (judgement !== 'believed') return judged(judgement, difference);\n\n",
    "const judgement = (vendor.updated_at ?? '') >= (held.updated_at ?? '') ? 'believed' : judge(held, stamp, context);\n    if (judgement !== 'believed') return judged(judgement, difference);\n\n",
  ),
  sabotage(
    'lag too short',
    75,
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
    7,
    'await this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() });',
    'this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() }).catch(() => undefined);',
  ),
  sabotage('acknowledged although the file is locked', 4, 'unavailable: 503', 'unavailable: 200'),
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
    9,
    "if (latest?.outcome !== 'complete') await this.#runs.request({ kind, trigger });",
    "if (latest?.outcome !== 'complete' && trigger !== 'schedule') await this.#runs.request({ kind, trigger });",
  ),
  sabotage('the breaker is off', 17, 'return suspects > limit;', 'return suspects > limit + 1e9;'),
  {
    name: 'an error inside HTTP 200 is an empty list',
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
    seed: 1,
    knobs: 'outage=empty_list outageMinutes=6 readOne=405 vendors=3',
    changes: [
      {
        search: 'const isBelieved = shown > 0 || approved >= suspects;',
        replace: 'const isBelieved = shown >= 0 || approved >= suspects;',
      },
    ],
  },
  sabotage('the old key dropped at once', 6, 'expires_at: timestamp(now + day)', 'expires_at: timestamp(now - 1)'),
  {
    // A code that comes, and a process that starts where none is known, are looked at: otherwise nothing would ever be registered.
    name: 'the callback never looked at again',
    seed: 6,
    changes: [
      {
        search: 'await Promise.race([this.keeper.check(), enough]);',
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
    seed: 25,
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
  {
    name: 'settled whatever came meanwhile',
    seed: 12,
    knobs:
      'readOne=405 vendors=3 concurrency=1 latency=12000 minutes=22 changes=1 fault:empty_list=0.1 crashes=1 answersLost=0.2 fault:truncated=0.1 fault:429=0.1 outage=503 outageMinutes=6',
    changes: [
      {
        search: "mirrorSql.deleteFrom('dirty_vendors'), at).where('generation', '=', at.generation),",
        replace: "mirrorSql.deleteFrom('dirty_vendors'), at),",
      },
      { search: "at,\n    ).where('generation', '=', at.generation),", replace: 'at,\n    ),' },
    ],
  },
  {
    name: 'unseen once is gone',
    seed: 7,
    changes: [
      {
        search: 'await reportRefused(engine, options, read.refused);',
        replace:
          "for (const vendorid of suspects) await applyAbsence(engine, options, vendorid, 'gone', options.began);",
      },
      {
        search: 'for (const vendorid of unseen.again) await',
        replace: 'for (const vendorid of unseen.suspects) await',
      },
    ],
  },
  sabotage(
    'not found once is gone',
    6,
    "if (sighting.kind === 'absent') return notYet(engine, mark);",
    "if (sighting.kind === 'absent') {\n    await engine.mirror.applyAbsence(mark.vendorid, 'gone', sighting.stamp, attendance.context as never);\n    return notYet(engine, mark);\n  }",
  ),
  sabotage(
    'a run under way is joined',
    3,
    'this.#waiting = undefined;\n      this.#stopping.signal.throwIfAborted();\n      return this.#job({ ...begun, signal: this.#stopping.signal });',
    'this.#stopping.signal.throwIfAborted();\n      const job = this.#job({ ...begun, signal: this.#stopping.signal });\n      return job.finally(() => (this.#waiting = undefined));',
  ),
  sabotage(
    'a code trusted before it is confirmed',
    11,
    "row('state', '=', 'proven'),\n            row.and(",
    "row('state', 'in', ['proven', 'candidate']),\n            row.and(",
  ),
  {
    name: 'a nudge lost',
    seed: 4,
    knobs: 'vendors=20',
    changes: [{ search: 'this.#awake = true;\n    this.#wake?.();', replace: '' }],
  },
  sabotage(
    'the order of arrival lost',
    1,
    'const orders = [(pairs: Pairs) => pairs, sorted, inDocumentedOrder];',
    'const orders = [sorted, inDocumentedOrder];',
  ),
  sabotage(
    'signatures not looked at',
    3,
    'if (!given) return false;',
    'if (!given || verifiers.length > 0) return verifiers.length > 0;',
  ),
  sabotage('given up for good', 4, "kind === 'reconcile' ? await wakeParked(engine) : []", '[]'),
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
  {
    name: 'what came too late is news',
    ...kept(16646),
    seed: 227,
    changes: [{ search: 'isGuarded || isNews(verdict)', replace: "verdict.kind !== 'unchanged'" }],
  },
  {
    name: 'empty pages are a whole list',
    ...kept(12086),
    changes: [{ search: 'pages > 1 && unreadable > known', replace: 'pages < 1 && unreadable > known' }],
  },
  sabotage('the path token in the mirror', 1, 'uri: withoutToken(callback.uri)', 'uri: callback.uri'),
];
