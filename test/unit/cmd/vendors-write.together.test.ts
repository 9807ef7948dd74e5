/** Two writes to one vendor at once: the service may carry them out in another order than they were sent and are answered in. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

/** Resolves when it is told to. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

it('A13 the answer to a write never replaces what another one brought meanwhile', async () => {
  const [firstSent, secondCarriedOut, firstApplied] = [signal(), signal(), signal()];
  let puts = 0;
  const network: typeof fetch = async (input, init) => {
    if (init?.method !== 'PUT') return await fetch(input, init);
    puts += 1;
    if (puts === 1) {
      firstSent.give();
      await secondCarriedOut.given;
      return await fetch(input, init);
    }
    const answer = await fetch(input, init);
    secondCarriedOut.give();
    await firstApplied.given;
    return answer;
  };
  const sandbox = await testbed({ level: 'sandbox', vendors: 1 });
  const line = await testbed({ level: 'command', service: sandbox, fetch: network });
  await line.run('sync', ...account);
  const vendors = sandbox.sandbox.vendors('6BApk');
  const vendorid = Number(vendors.listed()[0]?.['vendorid']);

  const edit = (field: string) => line.run('vendors', 'edit', String(vendorid), '--set', field, '--again', ...account);
  const first = edit('city=Boise');
  await firstSent.given;
  const second = edit('street=Main');
  expect((await first).status).toBe(0);
  firstApplied.give();
  const { status, stderr } = await second;

  expect(status).toBe(0);
  expect(vendors.all()).toMatchObject([{ city: 'Boise', street: 'Main' }]);
  expect(stderr).toContain(
    'The vendor was also read or written otherwise meanwhile, so it is marked to be read again.',
  );
  const file = new Driver(line.database, { readonly: true });
  expect(file.prepare('SELECT city, street FROM vendors').all()).toEqual([{ city: 'Boise', street: 'Main' }]);
  expect(file.prepare('SELECT vendorid, reason FROM dirty_vendors').all()).toMatchObject([{ vendorid }]);
  file.close();
});
