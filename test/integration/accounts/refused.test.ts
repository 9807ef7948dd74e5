/** A service that refuses access: where this is reported, and how soon. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Status {
  readonly ready: boolean;
  readonly fresh: boolean;
  readonly accounts: readonly {
    readonly ready: boolean;
    readonly reasons: readonly string[];
    readonly last_error: { readonly code: string; readonly what_to_do: string } | null;
  }[];
}

const status = async (at: Testbed<'daemon'>): Promise<Status> =>
  JSON.parse((await at.look('/api/status')).body) as Status;

const [errorLevel, interval] = [50, 15 * 60_000];

it.each([
  ['unauthenticated', undefined, 'Set a new token as service.auth.accessToken.'],
  ['access_denied', ['user:callbacks:read'], 'The plan of the business, or the role of the person behind the token'],
])('K18 L40 the token dies (%s): log, status and metrics say so within one interval', async (code, scopes, remedy) => {
  const at = await testbed({ level: 'daemon' });
  expect(await status(at)).toMatchObject({ ready: true, fresh: true, accounts: [{ last_error: null }] });

  at.sandbox.access.revoke('a-token');
  if (scopes) at.sandbox.access.grant('a-token', scopes);
  await at.clock.pass(interval + 60_000);
  expect(await status(at)).toMatchObject({
    ready: true,
    fresh: true,
    verdict: { code: 'access_refused', tone: 'bad' },
    accounts: [
      {
        ready: false,
        reasons: [expect.stringContaining(code)],
        last_error: { code, what_to_do: expect.stringContaining(remedy) as string },
      },
    ],
  });
  const errors = at.log.filter(({ level }) => level === errorLevel).map(({ msg }) => msg);
  expect(errors).toContainEqual(expect.stringContaining(remedy));
  const named = `vendor_mirror_last_run_failed{account="${account}",code="${code}"} 1`;
  expect((await at.look('/metrics')).body).toContain(named);
  expect(at.query(`SELECT DISTINCT error_code FROM runs WHERE outcome = 'failed'`)).toEqual([{ error_code: code }]);
  // The process can do its work: a fresh token is all that is missing.
  expect((await at.look('/readyz')).status).toBe(200);

  at.sandbox.access.revoke('a-token');
  at.sandbox.access.grant('a-token');
  await at.clock.pass(interval + 60_000);
  expect(await status(at)).toMatchObject({ fresh: true, accounts: [{ reasons: [], last_error: null }] });
  expect((await at.look('/metrics')).body).not.toContain('vendor_mirror_last_run_failed{');
});

it('L82 a token that works again ends it as soon as the settings are read again, not with the next run', async () => {
  const at = await testbed({ level: 'daemon' });
  at.sandbox.access.revoke('a-token');
  await at.clock.pass(interval + 60_000);
  expect(await status(at)).toMatchObject({ accounts: [{ last_error: { code: 'unauthenticated' } }] });
  at.sandbox.access.grant('a-token');
  await at.daemon.use(at.settings);
  await at.clock.pass(10_000);
  expect(await status(at)).toMatchObject({ ready: true, accounts: [{ reasons: [], last_error: null }] });
});
