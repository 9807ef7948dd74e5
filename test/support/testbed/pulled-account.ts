/** An account whose vendors the mirror holds already. */
import { expect } from 'vitest';
import { testbed, type Testbed, type TestbedOptions } from '../testbed.ts';

/** Pages of fifteen, one after the other. */
export const shortPages = { perPage: 15, concurrency: 1 };

/** A minute after sixty vendors, unless told, were pulled in short pages. */
export async function pulledAccount(options: TestbedOptions<'account'> = {}): Promise<Testbed<'account'>> {
  const settings = { service: { paging: shortPages } };
  const at = await testbed({ level: 'account', vendors: 60, settings, ...options });
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  await at.clock.advance(60_000);
  return at;
}

/** The numbers of the first active vendors. */
export function activeIds(at: Pick<Testbed<'account'>, 'query'>, count: number): number[] {
  return at
    .query<{ vendorid: number }>('SELECT vendorid FROM active_vendors ORDER BY vendorid LIMIT ?', count)
    .map(({ vendorid }) => vendorid);
}
