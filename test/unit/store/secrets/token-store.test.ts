/** Which of several processes may renew a token pair, also after one of them died. */
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import type { TokenStore } from '../../../../src/store/secrets/token-store.ts';
import { migrations, temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** New in each test: fractions that earlier ones left would delay what is due. */
let clock = virtualClock({ auto: true });
beforeEach(() => void (clock = virtualClock({ auto: true })));

/** Processes that live. */
const alive = new Set<string>();

/** The token store as the process of that name opens it. */
async function open(path: string, name: string) {
  const secrets = await openSecrets({ path, migrations, clock, random: systemRandom });
  onTestFinished(() => secrets.close());
  alive.add(name);
  const told: number[] = [];
  const isAlive = (other: string): boolean => alive.has(other);
  const onWait = (): void => void told.push(clock.monotonic());
  return {
    tokenStore: secrets.tokenStore('client', { process: { name, isAlive }, onWait }),
    told,
    close: () => secrets.close(),
  };
}

/** Begins to replace the pair. @returns how to end. */
async function hold(tokenStore: TokenStore): Promise<() => void> {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await new Promise<void>((resolve) => {
    void tokenStore.exclusively(() => {
      resolve();
      return ended;
    });
  });
  return end;
}

const file = (): string => join(temporaryFolder(), 'secrets.db');

it('K20 the lease of a dead process is free at once', async () => {
  const path = file();
  const one = await open(path, 'one');
  const end = await hold(one.tokenStore);
  alive.delete('one');
  const other = await open(path, 'other');
  const begun = clock.monotonic();
  await other.tokenStore.exclusively(() => Promise.resolve());
  expect([clock.monotonic() - begun, other.told]).toEqual([0, []]);
  end();
});

it('K20 a wait for a living process is reported once, after two seconds', async () => {
  const path = file();
  const [one, other] = [await open(path, 'one'), await open(path, 'other')];
  const end = await hold(one.tokenStore);
  const begun = clock.monotonic();
  clock.timer(5_000, end);
  await other.tokenStore.exclusively(() => Promise.resolve());
  expect(other.told.map((at) => Math.round(at - begun))).toEqual([2_000]);
  expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(5_000);
  expect(clock.monotonic() - begun).toBeLessThan(5_200);
});

it('K20 a living process whose renewal failed delays nobody', async () => {
  const path = file();
  const [one, other] = [await open(path, 'one'), await open(path, 'other')];
  await expect(one.tokenStore.exclusively(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  const begun = clock.monotonic();
  await other.tokenStore.exclusively(() => Promise.resolve());
  expect([clock.monotonic() - begun, other.told]).toEqual([0, []]);
});

it('K20 a living process that never ends is waited for three minutes, and its late end does not free the lease of another', async () => {
  const path = file();
  const [one, other, third] = [await open(path, 'one'), await open(path, 'other'), await open(path, 'third')];
  const begun = clock.monotonic();
  const endOne = await hold(one.tokenStore);
  const endOther = await hold(other.tokenStore);
  expect(Math.round((clock.monotonic() - begun) / 1_000)).toBe(180);
  endOne();
  clock.timer(5_000, endOther);
  const waited = clock.monotonic();
  await third.tokenStore.exclusively(() => Promise.resolve());
  expect(clock.monotonic() - waited).toBeGreaterThanOrEqual(5_000);
});

it('K20 closing refuses waiting callers, and stores a new pair that is under way', async () => {
  const path = file();
  const [one, other] = [await open(path, 'one'), await open(path, 'other')];
  let save = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (save = resolve));
  const renewal = one.tokenStore.exclusively(async (_, keep) => {
    await arrived;
    await keep({ access: new Secret('new'), refresh: new Secret('next'), expiresAt: 0 });
  });
  const waiting = other.tokenStore.exclusively(() => Promise.resolve());
  const refused = expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
  await other.close();
  await refused;
  clock.timer(1_000, save);
  await one.close();
  await renewal;
  const again = await open(path, 'again');
  expect((await again.tokenStore.load())?.access.reveal()).toBe('new');
});
