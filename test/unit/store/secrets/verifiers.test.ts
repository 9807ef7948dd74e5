import fc from 'fast-check';
import { join } from 'node:path';
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import type { Verifiers } from '../../../../src/store/secrets/verifiers.ts';
import { migrations, temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock, type VirtualClock } from '../../../support/virtual-clock.ts';

interface Safe {
  readonly verifiers: Verifiers;
  readonly clock: VirtualClock;
  readonly path: string;
  readonly offer: (code: string, callbackid?: number | null, account?: string) => ReturnType<Verifiers['offer']>;
  readonly usable: () => Promise<string[]>;
  readonly candidates: (callbackid: number, account?: string) => Promise<string[]>;
}

/** How many codes of a kind wait. */
const places = 32;

async function safe(path = join(temporaryFolder(), 'secrets.db')): Promise<Safe> {
  const clock = virtualClock({ auto: true });
  const secrets = await openSecrets({ path, migrations, clock, random: systemRandom });
  onTestFinished(() => secrets.close());
  const { verifiers } = secrets;
  const texts = (list: readonly Secret[]) => list.map((secret) => secret.reveal());
  return {
    verifiers,
    clock,
    path,
    offer: (code, callbackid = null, account = 'a') => verifiers.offer(account, new Secret(code), callbackid),
    usable: async () => texts(await verifiers.usable('a')),
    candidates: async (callbackid, account = 'a') => texts(await verifiers.candidates(account, callbackid)),
  };
}

describe('path tokens', () => {
  it('have 128 bits, are made once for each account, and survive a restart', async () => {
    const one = await safe();
    const token = (await one.verifiers.pathToken('a')).reveal();
    expect(token).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect((await one.verifiers.pathToken('a')).reveal()).toBe(token);
    expect((await one.verifiers.pathToken('b')).reveal()).not.toBe(token);
    const again = await safe(one.path);
    expect((await again.verifiers.pathToken('a')).reveal()).toBe(token);
  });

  it('keep the one before a rotation until the rotation of that very token has ended', async () => {
    const { verifiers } = await safe();
    const before = (await verifiers.pathToken('a')).reveal();
    expect([await verifiers.rotate('a'), await verifiers.rotate('a')]).toEqual([true, false]);
    const current = await verifiers.pathToken('a');
    const previous = async (): Promise<string | undefined> => (await verifiers.addressTokens('a')).previous?.reveal();
    await verifiers.endRotation('a', new Secret(before));
    expect(await previous()).toBe(before);
    await verifiers.endRotation('a', current);
    expect(await previous()).toBeUndefined();
    expect((await verifiers.pathToken('a')).reveal()).toBe(current.reveal());
  });

  it('are in a file that nobody else may read', async () => {
    const { path } = await safe();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('D2 verification codes', () => {
  it('are kept only while one is awaited, for a matching callback', async () => {
    const { verifiers, offer, candidates } = await safe();
    expect(await offer('code')).toBe('not_awaited');
    await verifiers.expect('a', 'bill_vendor', null);
    expect(await offer('code', null, 'b')).toBe('not_awaited');
    expect(await offer('early', 7)).toBe('kept');
    await verifiers.expect('a', 'bill_vendor', 7);
    expect([await offer('one', 7), await offer('nameless'), await offer('other', 8)]).toEqual([
      'kept',
      'kept',
      'not_awaited',
    ]);
    expect((await candidates(7)).sort()).toEqual(['early', 'nameless', 'one']);
    expect(await candidates(8)).toEqual(['nameless']);
    await verifiers.expectNone('a', 'bill_vendor');
    expect([await offer('late', 7), await offer('one', 7)]).toEqual(['not_awaited', 'known']);
  });

  it('L52 are as many as have places: a new one takes that of the oldest, and what is found wrong frees its own', async () => {
    const { verifiers, offer, candidates } = await safe();
    await verifiers.expect('a', 'bill_vendor', 7);
    for (let count = 0; count < places; count += 1) expect(await offer(`code-${count}`)).toBe('kept');
    expect([await offer('newest'), await offer('code-1')]).toEqual(['displaced', 'known']);
    expect((await candidates(7)).slice(-1)).toEqual(['code-1']);
    await verifiers.drop('a', new Secret('code-3'));
    expect([await offer('code-0'), await offer('again')]).toEqual(['kept', 'displaced']);
  });

  it('L52 that came again for a key lose their place, and stay the key', async () => {
    const { verifiers, offer, candidates, usable } = await safe();
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('seven'));
    await verifiers.expect('a', 'bill_vendor', 7);
    expect(await offer('seven', 7)).toBe('kept');
    for (let count = 0; count < places; count += 1) await offer(`code-${count}`, 7);
    expect([await candidates(7), await usable()]).toEqual([expect.not.arrayContaining(['seven']), ['seven']]);
  });

  it('that another process overtook with a later one sign for a day, and leave it the key', async () => {
    const { verifiers, clock, offer, usable } = await safe();
    await verifiers.expect('a', 'bill_vendor', 7);
    for (const code of ['one', 'later']) await offer(code, 7);
    await verifiers.proveCandidate('a', 'bill_vendor', 7, new Secret('later'));
    await verifiers.proveCandidate('a', 'bill_vendor', 7, new Secret('one'));
    expect((await usable()).sort()).toEqual(['later', 'one']);
    await clock.advance(86_400_001);
    expect(await usable()).toEqual(['later']);
  });

  it('L52 wait for their turn unless as many of their kind came after them, whatever others send', async () => {
    const { verifiers, offer, candidates } = await safe();
    const kinds = fc.constantFrom(7, 8, null);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, fc.integer({ min: 1, max: 40 })), { maxLength: 8 }), async (waves) => {
        const account = `account ${(runs += 1)}`;
        for (const id of [7, 8]) await verifiers.expect(account, `event ${id}`, id);
        const sent: { readonly kind: number | null; readonly code: string }[] = [];
        for (const [kind, count] of waves)
          for (let nth = 0; nth < count; nth += 1) {
            const code = `code ${sent.length}`;
            sent.push({ kind, code });
            expect(await offer(code, kind, account)).not.toBe('not_awaited');
          }
        const newest = (kind: number | null) =>
          sent
            .filter((each) => each.kind === kind)
            .slice(-places)
            .reverse();
        for (const id of [7, 8])
          expect(await candidates(id, account)).toEqual([...newest(id), ...newest(null)].map(({ code }) => code));
      }),
      { numRuns: 25, seed: 52 },
    );
  });

  it('D5 are on disk once they are kept', async () => {
    const { verifiers, offer, path } = await safe();
    await verifiers.expect('a', 'bill_vendor', 7);
    await offer('canary-code', 7);
    expect(readFileSync(`${path}-wal`, 'latin1')).toContain('canary-code');
  });

  it('are not used as verifiers', async () => {
    const { verifiers, offer, usable } = await safe();
    await verifiers.expect('a', 'bill_vendor', 7);
    await offer('code', 7);
    expect([await usable(), await verifiers.hasKey('a', 7)]).toEqual([[], false]);
  });
});

describe('verifiers', () => {
  it('D9 come from proven codes; the previous one is valid for a day', async () => {
    const { verifiers, offer, usable, candidates, clock } = await safe();
    await verifiers.expect('a', 'bill_vendor', 7);
    await offer('first', 7);
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('first'));
    expect([await usable(), await candidates(7), await verifiers.hasKey('a', 7)]).toEqual([['first'], [], true]);
    await verifiers.expect('a', 'bill_vendor', 7);
    await offer('second', 7);
    await offer('wrong', 7);
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('second'));
    expect([await usable(), await candidates(7)]).toEqual([['second', 'first'], []]);
    await clock.advance(86_400_001);
    expect(await usable()).toEqual(['second']);
  });

  it('K10 that are sent again while a code is awaited are tried again, and stay valid meanwhile and afterwards', async () => {
    const { verifiers, offer, usable, candidates } = await safe();
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('seven'));
    expect([await offer('seven', 7), await candidates(7)]).toEqual(['known', []]);
    await verifiers.expect('a', 'bill_vendor', 7);
    expect([await offer('seven', 7), await candidates(7), await usable()]).toEqual(['kept', ['seven'], ['seven']]);
    await verifiers.drop('a', new Secret('seven'));
    expect([await candidates(7), await usable()]).toEqual([[], ['seven']]);
    await offer('seven', 7);
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('seven'));
    expect([await candidates(7), await usable(), await verifiers.hasKey('a', 7)]).toEqual([[], ['seven'], true]);
  });

  it('K10 of a deleted callback are tried for its replacement', async () => {
    const { verifiers, offer, candidates } = await safe();
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('same'));
    await verifiers.retire('a', 7);
    await verifiers.expect('a', 'bill_vendor', 8);
    expect([await offer('same', 8), await candidates(8)]).toEqual(['kept', ['same']]);
  });

  it('of other callbacks stay unchanged when one is proven', async () => {
    const { verifiers, offer, usable } = await safe();
    await verifiers.prove('a', 'bill_vendor.create', 7, new Secret('seven'));
    await verifiers.expect('a', 'bill_vendor.update', 8);
    await offer('eight', 8);
    await verifiers.prove('a', 'bill_vendor.update', 8, new Secret('eight'));
    expect((await usable()).sort()).toEqual(['eight', 'seven']);
  });

  it('of a deleted callback are valid for a day, and no code is awaited for it', async () => {
    const { verifiers, offer, usable, clock } = await safe();
    await verifiers.prove('a', 'bill_vendor', 7, new Secret('seven'));
    await verifiers.expect('a', 'bill_vendor', 7);
    await verifiers.retire('a', 7);
    expect([await usable(), await verifiers.hasKey('a', 7), await offer('code', 7)]).toEqual([
      ['seven'],
      false,
      'not_awaited',
    ]);
    await clock.advance(86_400_001);
    expect(await usable()).toEqual([]);
  });
});

it('D11, L93 three registrations of an event at an address follow at once, the next after an hour, then two; others do not count', async () => {
  const { verifiers, clock } = await safe();
  const hour = 3_600_000;
  const tries = async (event: string, uri: string) => {
    const waits = [];
    for (let count = 0; count < 4; count += 1) {
      const until = await verifiers.register('a', event, uri);
      waits.push(until === undefined ? 0 : until - clock.now());
    }
    return waits;
  };
  expect(await tries('bill_vendor', 'https://one/')).toEqual([0, 0, 0, hour]);
  expect(await tries('bill', 'https://one/')).toEqual([0, 0, 0, hour]);
  expect(await tries('bill_vendor', 'https://two/')).toEqual([0, 0, 0, hour]);
  await verifiers.withdraw('a', 'bill_vendor');
  expect(await tries('bill_vendor', 'https://two/')).toEqual([0, hour, hour, hour]);
  await clock.advance(hour);
  expect(await tries('bill_vendor', 'https://two/')).toEqual([0, 2 * hour, 2 * hour, 2 * hour]);
  await verifiers.forgetRegistrations('a');
  expect(await tries('bill_vendor', 'https://two/')).toEqual([0, 0, 0, hour]);
  await clock.advance(24 * hour);
  expect(await tries('bill_vendor', 'https://two/')).toEqual([0, 0, 0, hour]);
});

it('L28 the newest eight orders of keys are kept, once each, and survive a restart', async () => {
  const one = await safe();
  expect(await one.verifiers.keyOrders()).toEqual([]);
  for (const nth of [1, 2, 3, 4, 5, 6, 7, 8, 2, 9]) await one.verifiers.keepKeyOrder(['name', `${nth}`]);
  const kept = [9, 2, 8, 7, 6, 5, 4, 3].map((nth) => ['name', `${nth}`]);
  expect(await one.verifiers.keyOrders()).toEqual(kept);
  expect(await (await safe(one.path)).verifiers.keyOrders()).toEqual(kept);
});
