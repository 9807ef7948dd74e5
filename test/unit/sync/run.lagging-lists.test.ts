/** A service that answers from copies much older than `sync.lag`. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { changingResults } from '../../support/network/service-answers.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const second = 1_000;

/** An account of a service that can answer again what it answered before. */
async function replicated(world: readonly string[] = ['noteInList=yes']) {
  const answers = new Map<string, string>();
  let replica: ReadonlyMap<string, string> = new Map();
  const at = await testbed({
    level: 'account',
    vendors: 30,
    world,
    rewrite: (text, url) => {
      answers.set(url.href, text);
      return replica.get(url.href) ?? text;
    },
  });
  const isList = (href: string): boolean => new URL(href).searchParams.has('page');
  return {
    at,
    /** What the service answered last. */
    copy: (): ReadonlyMap<string, string> => new Map(answers),
    /** From now on it answers from this copy: to lists, to reads by id, or to both. */
    answerFrom: (copy: ReadonlyMap<string, string>, what: 'lists' | 'ids' | 'all') =>
      void (replica = new Map([...copy].filter(([href]) => what === 'all' || isList(href) === (what === 'lists')))),
    answerFromNow: () => void (replica = new Map()),
  };
}

const count = (at: Testbed<'account'>, sql: string): number =>
  Number(at.query(`SELECT count(*) AS n FROM ${sql}`)[0]?.['n']);
const changed = "vendors WHERE vendor_name = 'Changed'";
const copies = (at: Testbed<'account'>): { vendors: number; seconds: number }[] =>
  at
    .query("SELECT fields FROM findings WHERE kind = 'lagging_copy' ORDER BY id")
    .map(({ fields }) => JSON.parse(String(fields)) as { vendors: number; seconds: number });

/** When the mirror claims to be true, in milliseconds since 1970. */
const claimed = (at: Testbed<'account'>): number =>
  Date.parse(`${String(at.query('SELECT safe_as_of FROM freshness')[0]?.['safe_as_of'])}Z`);

const vendorsOf = (at: Testbed<'account'>): number[] =>
  at.sandbox
    .vendors(account)
    .listed()
    .map(({ vendorid }) => Number(vendorid));

/** Reads vendors by id, as after a delivery. */
async function read(at: Testbed<'account'>, ids: readonly number[]): Promise<void> {
  for (const vendorid of ids)
    await at.installation.account(account).reader.read(vendorid, {
      context: { accountId: account, source: 'delivery', runId: null, deliveryId: null, lag: 5 * second },
      signal: new AbortController().signal,
    });
}

/** Changes vendors at the service. @returns their numbers. */
function change(at: Testbed<'account'>, howMany: number): number[] {
  const ids = vendorsOf(at).slice(0, howMany);
  for (const id of ids) at.sandbox.vendors(account).edit(id, { vendor_name: 'Changed' });
  return ids;
}

describe('L15 a list that is far behind', () => {
  it.each([1, 20])('undoes none of %i changes that deliveries brought, and tells how old it is', async (many) => {
    const { at, copy, answerFrom, answerFromNow } = await replicated();
    await at.pull();
    await at.clock.advance(60 * second);
    answerFrom(copy(), 'lists');
    await read(at, change(at, many));
    const before = count(at, 'vendor_versions');
    for (const wait of [10, 20, 25]) {
      await at.clock.advance(wait * second);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect([count(at, changed), count(at, 'vendor_versions')]).toEqual([many, before]);
    }
    expect(copies(at).map(({ vendors }) => vendors)).toEqual([many, many, many]);
    expect(copies(at).at(-1)?.seconds).toBeGreaterThanOrEqual(55);
    answerFromNow();
    await at.clock.advance(60 * second);
    expect(await at.pull()).toMatchObject({ outcome: 'complete', updated: 0 });
    expect([count(at, changed), count(at, 'vendor_versions'), copies(at).length]).toEqual([many, before, 3]);
  });

  it('is believed where reads by id agree for ten minutes: the service itself went back', async () => {
    const { at, copy, answerFrom } = await replicated();
    await at.pull();
    await read(at, vendorsOf(at).slice(0, 3));
    const backup = copy();
    await at.clock.advance(60 * second);
    await read(at, change(at, 3));
    await at.clock.advance(60 * second);
    answerFrom(backup, 'all');
    const went = at.clock.now();
    await at.pull();
    expect(count(at, changed)).toBe(3);
    expect(claimed(at)).toBeLessThanOrEqual(went);
    await at.clock.advance(600 * second);
    await at.pull();
    expect(count(at, changed)).toBe(0);
    expect(claimed(at)).toBeGreaterThan(went);
  });

  it('does not take the mirror back where reads by id are answered from the same copy, in turn with a newer one', async () => {
    const { at, copy, answerFrom, answerFromNow } = await replicated();
    await at.pull();
    await read(at, vendorsOf(at).slice(0, 2));
    const old = copy();
    await at.clock.advance(60 * second);
    const ids = change(at, 2);
    await read(at, ids);
    const before = count(at, 'vendor_versions');
    for (const wait of [60, 300, 300, 540, 1_200, 60]) {
      await at.clock.advance(wait * second);
      answerFrom(old, 'all');
      await read(at, ids);
      await at.pull();
      expect([wait, count(at, changed), count(at, 'vendor_versions')]).toEqual([wait, 2, before]);
      await at.clock.advance(30 * second);
      answerFromNow();
      await read(at, ids);
    }
  });

  it('is believed although reads by id stay behind: they do not take the mirror back, and it claims no later moment', async () => {
    const { at, copy, answerFrom } = await replicated();
    await at.pull();
    await read(at, vendorsOf(at));
    answerFrom(copy(), 'ids');
    await at.clock.advance(60 * second);
    const ids = change(at, 4);
    await at.pull();
    const [before, claim] = [count(at, 'vendor_versions'), claimed(at)];
    for (let runs = 0; runs < 4; runs++) {
      await at.clock.advance(1_200 * second);
      await read(at, ids);
      await at.pull();
      expect([runs, count(at, changed), count(at, 'vendor_versions')]).toEqual([runs, 4, before]);
      expect(claimed(at)).toBeLessThanOrEqual(claim + 60 * second);
    }
  });

  it.each([
    [120, 600],
    [1_200, 1_200],
  ])('without reads by id, is believed after sweeps far enough apart: %i s old, after %i s', async (old, age) => {
    const { at, copy, answerFrom } = await replicated(['readOne=405']);
    await at.pull();
    const before = copy();
    await at.clock.advance(60 * second);
    change(at, 4);
    await at.pull();
    await at.clock.advance(old * second);
    answerFrom(before, 'lists');
    const since = at.clock.now();
    while (count(at, changed) === 4) {
      await at.clock.advance(20 * second);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    }
    const waited = at.clock.now() - since;
    expect(count(at, changed)).toBe(0);
    expect([waited >= age * second, waited < (age + 60) * second]).toEqual([true, true]);
  });

  it('without reads by id, two replicas of which one is stuck never take the mirror back', async () => {
    const { at, copy, answerFrom, answerFromNow } = await replicated(['readOne=405']);
    await at.pull();
    const old = copy();
    await at.clock.advance(60 * second);
    change(at, 2);
    await at.pull();
    const before = count(at, 'vendor_versions');
    for (let time = 0; time < 6; time++) {
      await at.clock.advance(300 * second);
      if (time % 2 === 0) answerFrom(old, 'lists');
      else answerFromNow();
      await at.pull();
      expect([time, count(at, changed), count(at, 'vendor_versions')]).toEqual([time, 2, before]);
    }
  });
});

describe('L15 the age of copies', () => {
  it('limits what is claimed, until none was seen for a day', async () => {
    const { at, copy, answerFrom, answerFromNow } = await replicated();
    await at.pull();
    await at.clock.advance(60 * second);
    answerFrom(copy(), 'lists');
    await read(at, change(at, 1));
    await at.clock.advance(40 * second);
    await at.pull();
    answerFromNow();
    const claim = async (): Promise<number> => {
      await at.clock.advance(3_600 * second);
      const began = at.clock.now();
      await at.pull();
      return began - claimed(at);
    };
    expect(await claim()).toBeGreaterThanOrEqual(40 * second);
    await at.clock.advance(24 * 3_600 * second);
    expect(await claim()).toBe(5 * second);
  });
});

describe('P7 a balance that goes back to what it was', () => {
  /** A service whose balances are all as `owe` says. */
  async function owing(world: string, answer?: (url: URL) => Response | undefined) {
    let owed = '';
    const at = await testbed({
      level: 'account',
      vendors: 30,
      world: [world, 'noteInList=yes'],
      ...(answer && { answer }),
      rewrite: (text) =>
        text.replaceAll(
          /"outstanding_balance":\[[^\]]*\]/g,
          `"outstanding_balance":[{"amount":{"amount":"${owed}","code":"EUR"}}]`,
        ),
    });
    /** @returns how many vendors the mirror shows otherwise, and since when it claims to know. */
    const pullOwing = async (balance: string): Promise<{ wrong: number; claim: number }> => {
      owed = balance;
      await at.clock.advance(60 * second);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      const wrong = count(at, `vendor_balances WHERE kind = 'outstanding' AND amount <> '${balance}'`);
      return { wrong, claim: claimed(at) };
    };
    return { at, pullOwing };
  }

  it.each(['readOne=404', 'readOne=405', 'readOne=yes'])(
    'is shown by the next sweep of a process that does not know yet whether vendors can be read by id: %s',
    async (world) => {
      const { at, pullOwing } = await owing(world);
      for (const balance of ['1.00', '2.00']) expect(await pullOwing(balance)).toMatchObject({ wrong: 0 });
      await at.reopen();
      expect(await pullOwing('1.00')).toMatchObject({ wrong: 0 });
    },
  );

  it('is not claimed to be known while the read of its vendor is refused', async () => {
    let refused = false;
    const { at, pullOwing } = await owing('readOne=yes', ({ pathname }) =>
      refused && pathname.endsWith(`/${first}`) ? new Response('{}', { status: 403 }) : undefined,
    );
    const [first] = vendorsOf(at);
    await pullOwing('1.00');
    const { claim } = await pullOwing('2.00');
    refused = true;
    expect(await pullOwing('1.00')).toEqual({ wrong: 1, claim });
    refused = false;
    await at.clock.advance(3_600 * second);
    expect(await pullOwing('1.00')).toMatchObject({ wrong: 0 });
  });
});

it('L13 where most go back, lists may show their times in another zone: both are said', async () => {
  const at = await testbed({
    level: 'account',
    vendors: 30,
    world: ['noteInList=yes'],
    rewrite: changingResults((result) =>
      result.bill_vendors?.forEach((row) => (row['updated_at'] = '2020-01-02 19:00:00')),
    ),
  });
  await at.pull();
  await at.clock.advance(60 * second);
  await read(at, vendorsOf(at));
  await at.clock.advance(60 * second);
  const { notes } = await at.pull();
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^The list showed \d+ vendors as they were before, up to \d+ s after they had changed: it is behind, or gives `updated_at` otherwise than/,
    ),
  );
});
