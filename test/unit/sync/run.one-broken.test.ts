/** Runs of an account in which the service is broken for one vendor. */
import { describe, expect, it } from 'vitest';
import { Forgetter } from '../../../src/store/forget.ts';
import { whatIsNotEqual } from '../../../src/sync/compare.ts';
import { migrations } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { constantRandom } from '../../support/random.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { itInFiles } from '../../support/testbed/store.ts';
import { activeIds } from '../../support/testbed/pulled-account.ts';

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  });
const html = (status: number): Response =>
  new Response('<html><body>Oops</body></html>', { status, headers: { 'content-type': 'text/html' } });
const refusal = (status: number, errno: number): Response =>
  json({ response: { errors: [{ errno, message: 'It cannot be read.' }] } }, status);
const record = (fields: object): Response => json({ response: { result: { bill_vendor: fields } } });
const reset = (): never => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
};

/** What the service answers for the vendor alone: one answer of each code. Which answers have which code, the tests of `api/` tell. */
const breakages: readonly (readonly [string, string, (vendorid: number) => Response | Promise<Response>])[] = [
  ['400', 'rejected', () => refusal(400, 1004)],
  ['401', 'unauthenticated', () => json({ error: 'unauthenticated' }, 401)],
  ['403', 'access_denied', () => refusal(403, 1003)],
  ['405', 'not_supported', () => refusal(405, 405)],
  ['500 in the service’s form', 'service_unavailable', () => refusal(500, 500)],
  [
    'a redirect to the vendor it was merged with',
    'redirected',
    () => new Response(null, { status: 301, headers: { location: '/1' } }),
  ],
  ['a page of HTML', 'answer_unreadable', () => html(200)],
  ['another vendor', 'answer_unreadable', (vendorid) => record({ vendorid: vendorid + 1, vendor_name: 'Merged' })],
  ['a record without an id', 'row_unusable', () => record({ vendor_name: 'Nobody' })],
  ['a connection that breaks', 'service_unreachable', reset],
  ['no answer at all', 'service_timeout', () => new Promise<Response>(() => undefined)],
];

type Break = (vendorid: number) => Response | Promise<Response>;

/** An account whose lists hide deleted vendors; reads of the vendors in `broken` are answered so from then on. */
async function oneBroken(answer: Break): Promise<{ at: Testbed<'account'>; broken: Set<number>; ids: number[] }> {
  const broken = new Set<number>();
  const at = await testbed({
    level: 'account',
    vendors: 30,
    world: ['listDeleted=hidden', 'visStateFilter=ignored'],
    answer: ({ pathname }) => {
      const id = Number(/\/(\d+)$/.exec(pathname)?.[1]);
      return broken.has(id) ? answer(id) : undefined;
    },
  });
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  await at.clock.advance(60_000);
  return { at, broken, ids: activeIds(at, 10) };
}

interface Fresh {
  readonly safe_as_of: string;
  readonly listed_as_of: string;
  readonly undecided: number;
}

function fresh(at: Testbed<'account'>): Fresh {
  return at.query<Fresh>('SELECT safe_as_of, listed_as_of, undecided FROM freshness')[0]!;
}

function vendor(at: Testbed<'account'>, vendorid: number): unknown {
  return at.query('SELECT vis_state, presence FROM vendors WHERE vendorid = ?', vendorid)[0];
}

const nowText = (at: Testbed<'account'>): string =>
  new Date(at.clock.now()).toISOString().replace('T', ' ').replace('Z', '');

itInFiles?.(
  'L5 a vendor that was merged into another limits what is claimed until a person forgets it, as the error says',
  async () => {
    const { at, broken, ids } = await oneBroken((vendorid) => record({ vendorid: vendorid + 1, vendor_name: 'Kept' }));
    const victim = ids[0]!;
    broken.add(victim);
    at.sandbox.vendors(account).delete(victim);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(at.query('SELECT error FROM undecided_vendors')[0]?.['error']).toContain(
      `Asked for vendor ${victim}, the service answered with vendor ${victim + 1}. If the one was merged into the other, \`vendor-mirror forget --vendor ${victim} --account ${account}\` takes it out of the mirror.`,
    );
    await at.clock.advance(60_000);
    const { clock } = at;
    const forgetter = await Forgetter.open({ path: at.database, migrations, clock, random: constantRandom() });
    expect(await forgetter.vendor(account, victim)).toBe(true);
    await forgetter.close();
    const begun = nowText(at);
    await at.clock.advance(10_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(fresh(at)).toMatchObject({ undecided: 0 });
    expect(fresh(at).safe_as_of >= begun).toBe(true);
  },
);

describe.each(breakages)('a service that answers for one vendor with %s', (_, code, answer) => {
  it('L5 L16 sets it aside when lists do not show it any more, and all others go on', async () => {
    const { at, broken, ids } = await oneBroken(answer);
    const [victim, deleted, edited] = ids as [number, number, number];
    const before = fresh(at);
    broken.add(victim);
    at.sandbox.vendors(account).delete(victim);
    at.sandbox.vendors(account).delete(deleted);
    for (const round of [1, 2, 3]) {
      at.sandbox.vendors(account).edit(edited, { city: `City ${round}` });
      const begun = nowText(at);
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      // What was claimed before is claimed still, and nothing later of the vendors as a whole.
      expect(fresh(at)).toMatchObject({ safe_as_of: before.safe_as_of, undecided: 1 });
      expect(fresh(at).listed_as_of >= before.listed_as_of && begun > before.safe_as_of).toBe(true);
      expect(at.query('SELECT vendorid, code FROM undecided_vendors')).toEqual([{ vendorid: victim, code }]);
      expect(vendor(at, victim)).toEqual({ vis_state: 0, presence: 'suspect' });
      expect(vendor(at, deleted)).toEqual({ vis_state: 1, presence: 'present' });
      expect(at.query('SELECT city FROM vendors WHERE vendorid = ?', edited)).toEqual([{ city: `City ${round}` }]);
      expect(
        at.query(
          "SELECT vendorid, fields FROM findings WHERE kind = 'unreadable' AND run_id = (SELECT max(id) FROM runs)",
        ),
      ).toEqual([{ vendorid: victim, fields: JSON.stringify({ refused: code }) }]);
      await at.clock.advance(60_000);
    }
    const report = await at.installation.verify(account, { trigger: 'command', signal: new AbortController().signal });
    expect(report).toMatchObject({
      outcome: 'different',
      differences: [{ vendorid: victim, kind: 'unreadable', fields: ['presence'] }],
      error: undefined,
    });
    expect(whatIsNotEqual(report)).toMatchObject({
      remedy: 'Open the vendor in the service, and report it there: `vendor-mirror status` says why it cannot be read.',
    });
    broken.clear();
    const begun = nowText(at);
    await at.clock.advance(10_000);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(vendor(at, victim)).toEqual({ vis_state: 1, presence: 'present' });
    expect(fresh(at)).toMatchObject({ undecided: 0 });
    expect(fresh(at).safe_as_of >= begun).toBe(true);
  });

  it('L5 sets it aside when it was deleted before and is read in turn', async () => {
    const { at, broken, ids } = await oneBroken(answer);
    const [victim, other] = ids as [number, number];
    for (const vendorid of [victim, other]) at.sandbox.vendors(account).delete(vendorid);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    await at.clock.advance(60_000);
    const before = fresh(at);
    broken.add(victim);
    at.sandbox.vendors(account).edit(other, { vendor_name: 'Renamed' });
    for (const undecided of [1, 1]) {
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(fresh(at)).toMatchObject({ safe_as_of: before.safe_as_of, undecided });
      await at.clock.advance(60_000);
    }
    expect(at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', other)).toEqual([{ vendor_name: 'Renamed' }]);
    expect(vendor(at, victim)).toEqual({ vis_state: 1, presence: 'present' });
    broken.clear();
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(fresh(at)).toMatchObject({ undecided: 0 });
  });

  if (code !== 'access_denied' && code !== 'not_supported')
    it('is down where it answers so for a listed vendor too', async () => {
      const { at, broken, ids } = await oneBroken(answer);
      const [victim] = ids as [number];
      at.sandbox.vendors(account).delete(victim);
      for (let id = 0; id < 10_000; id++) broken.add(id);
      expect((await at.pull()).outcome).not.toBe('complete');
      expect(fresh(at)).toMatchObject({ undecided: 0 });
      broken.clear();
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    });
});

describe('410', () => {
  it('L5 in the service’s words says that the vendor does not exist, as 404 does', async () => {
    const { at, broken, ids } = await oneBroken(() => refusal(410, 410));
    broken.add(ids[0]!);
    at.sandbox.vendors(account).vanish(ids[0]!);
    expect(await at.pull()).toMatchObject({ outcome: 'complete' });
    expect(vendor(at, ids[0]!)).toMatchObject({ presence: 'gone' });
    expect(fresh(at)).toMatchObject({ undecided: 0 });
  });
});

it('L5 so many vendors that cannot be read that some wait for the next run: each is tried again', async () => {
  const tried = new Map<number, number>();
  const broken = new Set<number>();
  const at = await testbed({
    level: 'account',
    vendors: 300,
    world: ['listDeleted=hidden', 'visStateFilter=ignored'],
    answer: ({ pathname }) => {
      const id = Number(/\/(\d+)$/.exec(pathname)?.[1]);
      if (!broken.has(id)) return undefined;
      tried.set(id, (tried.get(id) ?? 0) + 1);
      return html(200);
    },
  });
  await at.pull();
  await at.clock.advance(60_000);
  const ids = activeIds(at, 130);
  for (const vendorid of ids) {
    broken.add(vendorid);
    at.sandbox.vendors(account).delete(vendorid);
  }
  const [, , ...rest] = ids;
  expect(await at.pull({ approved: 130 })).toMatchObject({ outcome: 'complete' });
  expect(fresh(at).undecided).toBe(130);
  for (const vendorid of rest) broken.delete(vendorid);
  await at.clock.advance(60_000);
  expect(await at.pull({ approved: 130 })).toMatchObject({ outcome: 'complete' });
  expect(fresh(at).undecided).toBe(2);
});
