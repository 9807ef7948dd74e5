/** The order of readings, with a service that answers from outdated copies. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadStamp } from '../../../src/domain/reading.ts';
import { asked } from '../../support/test-size.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles, lag, row, triesOf } from '../../support/testbed/store.ts';

/** What the mirror holds of vendor 1: its name, or `gone`. */
function held(at: Testbed<'store'>, vendorid = 1): string | undefined {
  const [found] = at.query<{ presence: string; vendor_name: string }>(
    'SELECT presence, vendor_name FROM vendors WHERE vendorid = ?',
    vendorid,
  );
  return found && (found.presence === 'gone' ? 'gone' : found.vendor_name);
}

/** Lets so much time pass that nothing is young any more. */
function age(at: Testbed<'store'>): void {
  at.clocks.running += lag;
  at.clocks.wall += lag;
}

describe('pages that are applied together', () => {
  it('are reported in their order, whichever was new, and all count', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'as it is'), row(3, 'before'));
    age(at);
    const stamp = await at.ask();
    expect(await at.pages(stamp, [row(2, 'new')], [row(1, 'as it is')], [row(3, 'after'), row(4, 'new')])).toEqual([
      ['created'],
      ['unchanged'],
      ['updated', 'created'],
    ]);
    expect(at.query('SELECT pages, seen FROM runs')).toEqual([{ pages: 3, seen: 4 }]);
    expect(await at.mirror.vendors.countVendors('one')).toBe(4);
  });

  it('K3 are applied except a record that cannot be stored, of which nothing remains', async () => {
    const at = await testbed({ level: 'store' });
    const broken = { ...row(2, 'broken'), vendor: () => ({ ...row(2, 'broken').vendor(), vis_state: 99 as 0 }) };
    const applied = await at.pages(await at.ask(), [row(1, 'good')], [broken, row(3, 'good')]);
    expect(applied).toEqual([['created'], ['rejected', 'created']]);
    expect(await at.mirror.vendors.countVendors('one')).toBe(2);
  });
});

describe('changes of a vendor', () => {
  it('L14 L19 in a field that each list shows again as an earlier one did make no unsteady field', async () => {
    const at = await testbed({ level: 'store' });
    const accountId = 'one';
    const run = await at.mirror.runs.beginRun({ accountId, kind: 'pull', trigger: 'command' });
    const context = { accountId, runId: run.id, run, deliveryId: null, lag, changeClassifier: undefined } as const;
    const counts = { pages: 1, requests: 1, seen: 1, created: 0, updated: 0, unchanged: 0, suspects: 0 };
    const list = async (name: string): Promise<unknown> => {
      const page = { page: 1, pages: 1, perPage: 100, total: 1, servedAt: undefined, rows: [row(1, name)] };
      const sweep = { ...context, source: 'pull', readsById: true } as const;
      const [verdicts] = await at.mirror.readings.applyPages([{ ...page, stamp: await at.ask() }], sweep, () => counts);
      return verdicts?.get(1)?.kind;
    };
    await list('cut off');
    age(at);
    expect(await at.record(await at.ask(), row(1, 'as a whole'))).toBe('updated');
    for (let lists = 0; lists < 6; lists += 1) {
      age(at);
      expect(await list('cut off')).toBe('guarded');
    }
    expect(at.query('SELECT changes FROM _unsteady_fields WHERE changes > 1')).toEqual([]);
    expect(held(at)).toBe('as a whole');
  });

  it('L109 are told in the order in which they were made, though the clock was set back between them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { maxLength: 6 }), async (steps) => {
        const at = await testbed({ level: 'store' });
        const owing = (amount: number): ReturnType<typeof row> => {
          const said = row(1, `owing ${amount}`);
          const vendor = { ...said.vendor(), outstanding_balance: [{ amount: `${amount}.00`, code: 'USD' }] };
          return { ...said, vendor: () => vendor };
        };
        await at.page(await at.ask(), owing(0));
        for (const [index, step] of steps.entries()) {
          age(at);
          at.clocks.wall += step;
          expect(await at.page(await at.ask(), owing(index + 1))).toEqual(['updated']);
        }
        const begun = (table: string): unknown[] =>
          at
            .query<{ valid_from: string }>(
              `SELECT valid_from FROM ${table} ORDER BY ${table === '_balance_spans' ? 'valid_to IS NULL, valid_to, outstanding_amount' : 'seq'}`,
            )
            .map((one) => one.valid_from);
        for (const table of ['_vendor_versions', '_balance_spans']) {
          expect(begun(table)).toEqual([...begun(table)].sort());
          expect(at.query(`SELECT 1 FROM ${table} WHERE valid_to < valid_from`)).toEqual([]);
        }
        expect(at.query('SELECT changed_at AS at FROM vendors')).toEqual([{ at: begun('_vendor_versions').at(-1) }]);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a page with a record that cannot be stored', () => {
  it('K3 stores nothing of it, and the first stored record begins an epoch of the change feed', async () => {
    const at = await testbed({ level: 'store' });
    // The last thing that is written of a vendor fails, and takes the epoch back that its version began.
    at.refuse('INSERT', '_balance_spans', 1);
    const owing = (vendorid: number): ReturnType<typeof row> => {
      const vendor = { ...row(vendorid, 'owing').vendor(), outstanding_balance: [{ amount: '1.00', code: 'USD' }] };
      return { ...row(vendorid, 'owing'), vendor: () => vendor };
    };
    expect(await at.page(await at.ask(), owing(1), owing(2), owing(3))).toEqual(['rejected', 'created', 'created']);
    // A new file's own, and that of the connection which wrote the versions.
    expect(at.query('SELECT epoch FROM _feed_epochs')).toHaveLength(2);
    expect(at.query('SELECT vendorid FROM vendor_versions')).toEqual([{ vendorid: 2 }, { vendorid: 3 }]);
  });
});

describe('a reading', () => {
  it('A13 that began earlier never wins, in whatever order the answers arrive', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'first'));
    age(at);
    const [page, reread] = [await at.ask(), await at.ask()];
    expect(await at.record(reread, row(1, 'second'))).toBe('updated');
    age(at);
    expect(await at.page(page, row(1, 'first'))).toEqual(['stale']);
    expect(held(at)).toBe('second');
  });

  it.each(['page', 'record'] as const)(
    'A13 B2 that began earlier never wins over a later %s that found the vendor unchanged',
    async (later) => {
      const at = await testbed({ level: 'store' });
      await at.page(await at.ask(), row(1, 'as it is'));
      age(at);
      const early = await at.ask();
      expect(await at[later](await at.ask(), row(1, 'as it is'))).toContain('unchanged');
      expect(await at.record(early, row(1, 'between'))).toBe('stale');
      expect(held(at)).toBe('as it is');
    },
  );

  it('A13 that began earlier never wins over a page that showed the vendor unchanged, even before the rest of the page is applied', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'as it is'), row(2, 'before'));
    age(at);
    const early = await at.ask();
    const page = at.page(await at.ask(), row(2, 'after'), row(1, 'as it is'), row(2, 'repeated'), row(3, 'new'));
    // The page's first transaction is over, its second has not begun.
    expect(await at.record(early, row(1, 'between'))).toBe('stale');
    expect((await page).toSorted()).toEqual(['created', 'unchanged', 'updated']);
    expect([held(at, 1), held(at, 2), held(at, 3)]).toEqual(['as it is', 'after', 'new']);
  });

  it('B2 that contradicts a young version is not applied, and the vendor is marked to be read again', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'new'));
    at.clocks.running += lag - 1;
    expect(await at.page(await at.ask(), row(1, 'old copy'))).toEqual(['guarded']);
    expect(held(at)).toBe('new');
    expect(await at.mirror.queue.dueMarks('one', 10)).toEqual([]);
    at.clocks.running += 1;
    expect(await at.mirror.queue.dueMarks('one', 10)).toMatchObject([{ vendorid: 1, reason: 'guarded' }]);
    expect(await at.record(await at.ask(), row(1, 'newest'))).toBe('updated');
  });

  it('B2 is judged by when its request began, however late the answer arrives', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'new'));
    const early = await at.ask();
    at.clocks.running += 3 * lag;
    expect(await at.page(early, row(1, 'old copy'))).toEqual(['guarded']);
    expect(held(at)).toBe('new');
  });

  it('B2 is guarded from the first reading of a version on, so that frequent readings do not keep it young', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'first'));
    for (let look = 0; look < 10; look++) {
      at.clocks.running += lag / 10;
      await at.record(await at.ask(), row(1, 'first'));
    }
    expect(await at.record(await at.ask(), row(1, 'second'))).toBe('updated');
  });

  it('B1 shows the second of two changes in one second', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'first', '2026-11-20 12:00:00'));
    age(at);
    expect(await at.record(await at.ask(), row(1, 'second', '2026-11-20 12:00:00'))).toBe('updated');
  });

  it('B3 counts although the service dates it earlier', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'before the clock fell back', '2026-11-20 12:00:00'));
    age(at);
    expect(await at.record(await at.ask(), row(1, 'after it', '2026-11-20 11:00:00'))).toBe('updated');
  });

  it('of our own write is applied at once, and not replaced by one that was requested before it', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'theirs'));
    const early = await at.ask();
    expect(await at.record(await at.ask(), row(1, 'ours'), 'write')).toBe('updated');
    age(at);
    expect(await at.record(early, row(1, 'theirs'))).toBe('stale');
    expect(held(at)).toBe('ours');
  });

  it('L15 of our own write is applied where it goes back; a later read by id from before it is not', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'first', '2026-11-20 12:00:00'));
    age(at);
    await at.record(await at.ask(), row(1, 'second', '2026-11-20 12:05:00'));
    age(at);
    expect(await at.record(await at.ask(), row(1, 'first', '2026-11-20 12:00:00'), 'write')).toBe('updated');
    expect(await at.record(await at.ask(), row(1, 'ours', '2026-11-20 12:10:00'), 'write')).toBe('updated');
    age(at);
    expect(await at.record(await at.ask(), row(1, 'second', '2026-11-20 12:05:00'))).toBe('guarded');
    expect(held(at)).toBe('ours');
  });

  it('of our own write is not believed if another answer arrived meanwhile; the vendor is read after both', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'before'));
    age(at);
    const [first, second] = [await at.ask(), await at.ask()];
    at.clocks.running += 1;
    expect(await at.record(first, row(1, 'carried out last'), 'write')).toBe('updated');
    expect(await at.record(second, row(1, 'carried out first'), 'write')).toBe('guarded');
    expect(held(at)).toBe('carried out last');
    expect(await at.mirror.queue.dueMarks('one')).toEqual([]);
    age(at);
    expect(await at.mirror.queue.dueMarks('one')).toMatchObject([{ vendorid: 1, reason: 'guarded' }]);
  });
});

describe('mirror time', () => {
  it('B8 continues with the counter after a restart of the machine, and a vendor is no younger for it', async () => {
    const at = await testbed({ level: 'store' });
    at.clocks.running = 50_000_000;
    await at.record(await at.ask(), row(1, 'first'));
    const before = await at.ask();
    at.clocks.running = 3;
    await at.reopen();
    const after = await at.ask();
    expect(after.readSeq).toBe(before.readSeq + 1);
    expect(after.begun).toBeGreaterThanOrEqual(before.begun);
    at.clocks.running += lag;
    expect(await at.record(await at.ask(), row(1, 'second'))).toBe('updated');
  });

  it('B4 does not change when the wall clock is set', async () => {
    const at = await testbed({ level: 'store' });
    await at.record(await at.ask(), row(1, 'first'));
    at.clocks.wall += 86_400_000;
    expect(await at.record(await at.ask(), row(1, 'old copy'))).toBe('guarded');
    at.clocks.wall -= 3 * 86_400_000;
    at.clocks.running += lag;
    expect(await at.record(await at.ask(), row(1, 'second'))).toBe('updated');
  });
});

type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'edit' | 'vanish' | 'write' }
  | { readonly kind: 'jump'; readonly ms: number }
  | { readonly kind: 'ask'; readonly by: 'page' | 'record' }
  | { readonly kind: 'answer'; readonly which: number; readonly freshness: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 1, max: lag }) } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('edit', 'edit', 'vanish', 'write') } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('jump'), ms: fc.integer({ min: -1e8, max: 1e8 }) } as const) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), by: fc.constantFrom('page', 'record') } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('answer'),
      which: fc.nat(9),
      freshness: fc.double({ min: 0, max: 1, noNaN: true }),
    } as const),
  },
);

/** A vendor at a service whose copies lag, and the requests under way. */
class World {
  readonly #at: Testbed<'store'>;
  readonly #vendorid: number;
  /** What the vendor was from when on; `gone` where there was none. */
  readonly #past: { from: number; name: string }[];
  readonly #open: { stamp: ReadStamp; by: 'page' | 'record'; asked: number }[] = [];
  #versions = 0;
  /** The newest version that the mirror has shown. */
  #reached = -1;

  constructor(at: Testbed<'store'>, vendorid: number) {
    this.#at = at;
    this.#vendorid = vendorid;
    this.#past = [{ from: at.clocks.running, name: this.#next() }];
  }

  async take(given: Step): Promise<void> {
    const { clocks } = this.#at;
    if (given.kind === 'pass') clocks.running += given.ms;
    else if (given.kind === 'jump') clocks.wall += given.ms;
    else if (given.kind === 'edit') this.#become(this.#next());
    else if (given.kind === 'vanish') this.#vanish();
    else if (given.kind === 'ask')
      this.#open.push({ stamp: await this.#at.ask(), by: given.by, asked: clocks.running });
    else if (given.kind === 'answer') await this.#answer(given.which, given.freshness);
    else await this.#write();
    this.#check();
  }

  /** Once all is quiet, one more reading brings the truth. */
  async settle(): Promise<void> {
    while (this.#open.length > 0) await this.#answer(0, 1);
    this.#at.clocks.running += 2 * lag;
    this.#open.push({ stamp: await this.#at.ask(), by: 'record', asked: this.#at.clocks.running });
    await this.#answer(0, 1);
    this.#check();
    const truth = this.#past.at(-1)!.name;
    expect(held(this.#at, this.#vendorid) ?? 'gone').toBe(truth);
  }

  #next(): string {
    return `version ${this.#versions++}`;
  }

  #vanish(): void {
    if (this.#past.at(-1)!.name !== 'gone') this.#become('gone');
  }

  #become(name: string): void {
    this.#past.push({ from: this.#at.clocks.running, name });
  }

  async #write(): Promise<void> {
    const stamp = await this.#at.ask();
    this.#become(this.#next());
    await this.#at.record(stamp, row(this.#vendorid, this.#past.at(-1)!.name), 'write');
  }

  /** An answer shows the vendor as it was at some moment from `lag` before the request to now. */
  async #answer(which: number, freshness: number): Promise<void> {
    const [request] = this.#open.splice(which % Math.max(1, this.#open.length), 1);
    if (!request) return;
    const oldest = request.asked - lag;
    const shown = oldest + freshness * (this.#at.clocks.running - oldest);
    const { name } = this.#past.findLast(({ from }) => from <= shown) ?? this.#past[0]!;
    if (name !== 'gone') await this.#at[request.by](request.stamp, row(this.#vendorid, name));
    else if (request.by === 'record') await this.#at.absence(request.stamp, this.#vendorid);
  }

  /** P3: what the mirror shows only ever grows newer. */
  #check(): void {
    const name = held(this.#at, this.#vendorid);
    if (name === undefined || name === this.#past[this.#reached]?.name) return;
    this.#reached = this.#past.findIndex((version, index) => index > this.#reached && version.name === name);
    expect(this.#reached).toBeGreaterThanOrEqual(0);
  }
}

// PostgreSQL takes no text that is not JSON.
const describeInFiles = itInFiles && describe;
describeInFiles?.('damaged stored JSON', () => {
  const damage = `UPDATE vendors SET raw = substr(raw, 1, 9), unknown_fields = '{"x' WHERE vendorid = 1`;

  it('F7 stops nothing: it counts as empty, and the next reading replaces it', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'before'), row(2, 'before'));
    await at.reopen();
    at.damage(damage);
    age(at);
    const after = row(1, 'after');
    expect(await at.page(await at.ask(), after, row(2, 'after'))).toEqual(['updated', 'updated']);
    expect(at.query('SELECT raw, unknown_fields FROM vendors WHERE vendorid = 1')).toEqual([
      { raw: after.raw, unknown_fields: null },
    ]);
  });

  it('F7 of a vendor that is gone stops nothing either', async () => {
    const at = await testbed({ level: 'store' });
    await at.page(await at.ask(), row(1, 'before'));
    await at.reopen();
    at.damage(damage);
    age(at);
    expect(await at.absence(await at.ask(), 1)).toBe('updated');
    expect(held(at)).toBe('gone');
    age(at);
    expect(await at.record(await at.ask(), row(1, 'back'))).toBe('updated');
    expect(held(at)).toBe('back');
  });
});

describe('whatever the order of readings', () => {
  it('A13 B2 B3 B4 the mirror never goes backwards, and is right once changes stop', async () => {
    const at = await testbed({ level: 'store' });
    let vendorid = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = new World(at, ++vendorid);
        for (const given of steps) await world.take(given);
        await world.settle();
      }),
      { numRuns: triesOf(500), ...(process.env['SEED'] !== undefined && { seed: asked('SEED', 1) }) },
    );
  });
});
