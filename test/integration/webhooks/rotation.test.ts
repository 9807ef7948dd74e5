/** `callbacks rotate` beside a daemon: the address of the callback is replaced, and nothing that the service sends meanwhile is lost. */
import { expect, it } from 'vitest';
import { systemRandom } from '../../../src/domain/clock.ts';
import { openSecrets } from '../../../src/store/secrets/secrets.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { ask, migrations } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const tokensOf = ({ settings }: Testbed<'daemon'>, id = account) =>
  ask<{ path_token: string; previous_token: string | null }>(
    settings.secrets,
    `SELECT path_token, previous_token FROM path_tokens WHERE account_id = '${id}'`,
  )[0]!;
/** As the command does. */
function rotate({ clock, settings }: Testbed<'daemon'>): Promise<boolean> {
  const rotated = async (): Promise<boolean> => {
    const secrets = await openSecrets({ path: settings.secrets, migrations, clock, random: systemRandom });
    try {
      return await secrets.verifiers.rotate(account);
    } finally {
      await secrets.close();
    }
  };
  return clock.during(rotated());
}
const callbacks = (at: Testbed<'daemon'>, id = account) => at.sandbox.callbacks(id).all();
const pathOf = (uri = ''): string => new URL(uri).pathname;

/** A delivery of the service, signed with the key of this callback. */
async function isAccepted(at: Testbed<'daemon'>, callback = callbacks(at)[0]): Promise<number> {
  const { headers, body } = signed(delivery, callback?.verifier);
  return at.deliver({ path: pathOf(callback?.uri), headers, body });
}

it('L52 replaces the address beside a running daemon: the new one is verified before the old callback is deleted', async () => {
  const held: { release: () => void } = { release: () => undefined };
  let isHeld = false;
  const at = await testbed({
    level: 'daemon',
    post:
      (carry) =>
      async (uri, ...rest) => {
        if (isHeld) await new Promise<void>((resolve) => (held.release = resolve));
        return carry(uri, ...rest);
      },
  });
  const [old] = callbacks(at);
  const before = tokensOf(at).path_token;
  isHeld = true;
  expect(await rotate(at)).toBe(true);
  await at.clock.until('the new address is registered', () => callbacks(at).length === 2, 10_000);
  const after = tokensOf(at);
  expect(after).toEqual({ path_token: expect.not.stringMatching(before) as string, previous_token: before });
  expect(callbacks(at)).toMatchObject([
    { id: old?.id, verified: true },
    { verified: false, uri: expect.stringContaining(after.path_token) as string },
  ]);
  expect(await isAccepted(at, old)).toBe(200);
  // At the address that others know no code is taken: none is awaited there.
  const code = `name=callback.verify&verifier=a-strangers-code&account_id=${account}&object_id=${callbacks(at)[1]?.id}`;
  const codeAt = (path: string) => at.deliver({ path, headers: { 'content-type': formType }, body: code });
  expect(await codeAt(pathOf(old?.uri))).toBe(403);
  expect(await rotate(at)).toBe(false);
  isHeld = false;
  held.release();
  await at.clock.until('the rotation is over', () => tokensOf(at).previous_token === null, 60_000);
  expect(callbacks(at)).toMatchObject([{ verified: true, uri: expect.stringContaining(after.path_token) as string }]);
  expect([await isAccepted(at), await isAccepted(at, old)]).toEqual([200, 404]);
  expect(at.log.map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('the address of the callback is replaced'),
  );
});

it('L52 is carried out by the next start where no daemon ran, and of that account alone', async () => {
  const at = await testbed({ level: 'daemon', accounts: [account, 'Other'] });
  await at.clock.until('both are verified', () => callbacks(at, 'Other').some(({ verified }) => verified), 60_000);
  const other = tokensOf(at, 'Other');
  const [old] = callbacks(at);
  await at.stop();
  expect(await rotate(at)).toBe(true);
  expect(callbacks(at)).toMatchObject([{ id: old?.id }]);
  await at.reopen();
  await at.start();
  await at.clock.until('the rotation is over', () => tokensOf(at).previous_token === null, 60_000);
  expect([callbacks(at).length, await isAccepted(at), await isAccepted(at, old)]).toEqual([1, 200, 404]);
  expect(tokensOf(at, 'Other')).toEqual(other);
  expect(callbacks(at, 'Other')).toHaveLength(1);
});

it('L52 waits while the service refuses the new address, and both accept deliveries until it does not', async () => {
  let isRefusing = false;
  const at = await testbed({
    level: 'daemon',
    answer: ({ pathname }, { method }) =>
      isRefusing && method === 'POST' && pathname.includes('/events/callbacks')
        ? Response.json({ errno: 1, message: 'Not now.' }, { status: 403 })
        : undefined,
  });
  isRefusing = true;
  await rotate(at);
  await at.clock.advance(20 * 60_000);
  expect([tokensOf(at).previous_token === null, callbacks(at).length, await isAccepted(at)]).toEqual([false, 1, 200]);
  isRefusing = false;
  await at.clock.until('the rotation is over', () => tokensOf(at).previous_token === null, 90 * 60_000);
  expect([callbacks(at).length, await isAccepted(at)]).toEqual([1, 200]);
});

it('L52 forgets what strangers sent to the old address', async () => {
  const at = await testbed({ level: 'daemon' });
  for (let count = 0; count < 8; count += 1)
    await at.deliver({ path: pathOf(callbacks(at)[0]?.uri), ...signed(delivery, 'a-strangers-key') });
  const refused = () => at.query(`SELECT outcome, refused FROM _refusals WHERE outcome = 'wrong_signature'`);
  await at.clock.until('they are counted', () => refused().length > 0, 10_000);
  await rotate(at);
  await at.clock.until('the rotation is over', () => tokensOf(at).previous_token === null, 60_000);
  expect(refused()).toEqual([]);
});
