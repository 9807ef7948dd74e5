/** Secrets in PostgreSQL: whose they are, that each refresh token is used by one process, and that none stands there as it is. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Hold } from '../../src/api/auth/oauth-tokens.ts';
import { systemClock, systemRandom, type Clock } from '../../src/domain/clock.ts';
import { Secret } from '../../src/domain/secret.ts';
import { postgresAddress } from '../../src/settings/addresses.ts';
import type { PostgresStore } from '../../src/settings/parse.ts';
import { openPostgresSecrets, secretsSealing } from '../../src/store/secrets/secrets.ts';
import type { TokenStore } from '../../src/store/secrets/token-store.ts';
import { migrations } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { newKeyFile } from '../support/postgres-schema.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { virtualClock, type VirtualClock } from '../support/virtual-clock.ts';

const server = postgresServer();

async function place(): Promise<{ readonly address: string; readonly store: PostgresStore }> {
  const address = await server.database();
  const to = postgresAddress(address);
  if (typeof to === 'string') throw new Error(to);
  const schemas = { schema: 'vendors', secretsSchema: 'kept_apart' };
  return {
    address,
    store: { to, ...schemas, password: undefined, passwordFile: undefined, secretsKeyFile: newKeyFile() },
  };
}

/** As a process of its own opens them. */
async function open({ store }: Awaited<ReturnType<typeof place>>, clock: Clock = systemClock) {
  const sealing = secretsSealing(store, systemRandom);
  const secrets = await openPostgresSecrets({ store, sealing, migrations, clock, random: systemRandom });
  onTestFinished(() => secrets.close());
  let wait = (): void => undefined;
  /** Resolves when somebody waits for a token pair. */
  const waited = new Promise<void>((resolve) => (wait = resolve));
  const user = (name: string) => ({
    process: { name, isAlive: (other: string) => other === name },
    onWait: () => wait(),
  });
  return { secrets, waited, tokens: (name: string): TokenStore => secrets.tokenStore('client', user(name)) };
}

/** Lets time pass, so many milliseconds at once, until it is so; the server takes its own. */
async function until(clock: VirtualClock, isSo: () => Promise<boolean>, step: number): Promise<void> {
  while (!(await isSo())) {
    await clock.advance(step);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const pair = (number: number) => ({
  access: new Secret(`access-token-${number}`),
  refresh: new Secret(`refresh-token-${number}`),
  expiresAt: Date.UTC(2026, 11, 1),
});

describe.skipIf(isMissing(missingPostgres))('secrets in PostgreSQL', () => {
  it('belong to one mirror, wherever it says that it is', async () => {
    const { secrets } = await open(await place());
    await secrets.place.claim({ mirrorId: 'ours', path: 'here' });
    await secrets.place.claim({ mirrorId: 'ours', path: 'there' });
    await expect(secrets.place.claim({ mirrorId: 'another', path: 'there' })).rejects.toMatchObject({
      code: 'secrets_taken',
    });
  });

  it('know an older copy of their mirror', async () => {
    const { secrets } = await open(await place());
    await secrets.place.claim({ mirrorId: 'ours', path: 'here' });
    const left = { isThere: false, isOfAnother: false };
    const epoch = (daemon_epoch: number) => ({ mirror_id: 'ours', daemon_epoch });
    expect(await secrets.beginDaemon(epoch(4), left)).toBe(false);
    await secrets.place.endDaemon(epoch(4));
    expect(await secrets.beginDaemon(epoch(4), left)).toBe(true);
    expect(await secrets.beginDaemon(epoch(5), left)).toBe(false);
  });

  it('K20 a token pair is replaced by one process at a time, though it is not heard of, and each sees what the one before saved', async () => {
    const at = await place();
    const [one, other] = [await open(at), await open(at)];
    const used: string[] = [];
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const first = one.tokens('one').exclusively(async (_, save) => {
      begin();
      await ended;
      await save(pair(1));
    });
    await begun;
    const second = other.tokens('other').exclusively(async (known, save) => {
      used.push(known?.refresh.reveal() ?? 'none');
      await save(pair(2));
    });
    await other.waited;
    expect(used).toEqual([]);
    end();
    await Promise.all([first, second]);
    expect(used).toEqual(['refresh-token-1']);
    expect((await one.tokens('one').load())?.access.reveal()).toBe('access-token-2');
  });

  it('a token pair stays with a process that renews its lease, which is lost before another takes it', async () => {
    const at = await place();
    const clock = virtualClock();
    const [one, other] = [await open(at, clock), await open(at)];
    const lease = async (): Promise<number> =>
      Number(
        (await askPostgres(at.address, 'SELECT lease_until_ms AS until FROM kept_apart.oauth_tokens'))[0]?.['until'],
      );
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let hold: Hold | undefined;
    const first = one.tokens('one').exclusively(async (_, __, held) => {
      hold = held;
      await ended;
    });
    await until(clock, () => Promise.resolve(hold !== undefined), 1);
    const before = await lease();
    await until(clock, async () => (await lease()) > before, 1_000);
    hold?.assert();

    // Somebody took it meanwhile: nothing may be sent any more.
    await askPostgres(at.address, `UPDATE kept_apart.oauth_tokens SET lease_owner = 'another 1', lease_until_ms = 0`);
    const isLost = async (): Promise<boolean> => (await lease()) === 0 && hold?.signal.aborted === true;
    await until(clock, isLost, 1_000);
    expect(() => hold?.assert()).toThrow('could not be kept');
    end();
    await first;
    expect(await other.tokens('other').exclusively((known) => Promise.resolve(known))).toBeUndefined();
  });

  it('a lease of a process that hung is over by its own clocks, though no timer has run', async () => {
    const at = await place();
    const clock = virtualClock();
    const { tokens } = await open(at, clock);
    await tokens('one').exclusively((_, __, hold) => {
      hold.assert();
      vi.spyOn(clock, 'monotonic').mockReturnValue(clock.monotonic() + 25_000);
      expect(() => hold.assert()).toThrow('could not be kept');
      expect(hold.signal.aborted).toBe(true);
      return Promise.resolve();
    });
  });

  it('a lease that was left ends by the clock of the server, and one of a server whose clock was years ahead is none', async () => {
    const at = await place();
    const { tokens } = await open(at);
    const set = (until: string) =>
      askPostgres(
        at.address,
        `INSERT INTO kept_apart.oauth_tokens (client, lease_owner, lease_until_ms)
         VALUES ('client', 'gone 1', extract(epoch FROM clock_timestamp() + interval '${until}') * 1000)
         ON CONFLICT (client) DO UPDATE SET lease_owner = excluded.lease_owner, lease_until_ms = excluded.lease_until_ms`,
      );
    for (const until of ['-1 second', '1 year']) {
      await set(until);
      expect(await tokens('one').exclusively((known) => Promise.resolve(known))).toBeUndefined();
    }
    await set('100 milliseconds');
    expect(await tokens('one').exclusively((known) => Promise.resolve(known))).toBeUndefined();
  });
});
