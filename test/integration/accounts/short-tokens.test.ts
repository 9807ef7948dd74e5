/** Tokens that last half a minute, renewed by a daemon and by commands beside it, each refresh token good for one renewal. */
import { expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { asked } from '../../support/test-size.ts';
import { migrations, namedProcess } from '../../support/mirror-file.ts';
import { directFetch } from '../../support/network/direct-fetch.ts';
import { account } from '../../support/names.ts';
import { constantRandom } from '../../support/random.ts';
import { testbed } from '../../support/testbed.ts';

const minutes = asked('TOKEN_MINUTES', 3);
const minute = 60_000;

it(`K20 ${minutes} minutes of a daemon and of commands beside it, with tokens that end after 30 s: each run is complete, and no grant is lost`, async () => {
  const oauth = {
    tokenUrl: 'https://service.example/auth/oauth/token',
    clientId: 'mirror',
    clientSecret: 'hush',
    redirectUri: 'https://mirror.example.com/oauth',
    refreshToken: 'first',
  };
  const at = await testbed({
    level: 'daemon',
    started: false,
    token: 'of nobody',
    tokenLifetime: 30,
    refreshToken: 'first',
    rateLimits: null,
    settings: {
      service: { auth: { oauth } },
      schedule: { reconcile: '* * * * *', pull: '0 3 * * *', timezone: 'UTC' },
    },
  });
  await at.start();
  await at.untilRuns();
  const end = at.clock.now() + minutes * minute;
  const outcomes: string[] = [];
  for (let nth = 1; at.clock.now() < end; nth += 1) {
    // Another process than the daemon, and than the command before.
    const sync = async (): Promise<string> => {
      const command = await openInstallation(at.settings, {
        clock: at.clock,
        random: constantRandom(),
        fetch: directFetch(at.sandbox),
        log: silentLog,
        lockProcess: namedProcess(`command ${nth}`),
        migrations,
      });
      const { signal } = new AbortController();
      const { outcome } = await command.pull(account, { kind: 'pull', trigger: 'command', signal });
      await command.close();
      return outcome;
    };
    outcomes.push(await at.clock.during(sync()));
    await at.clock.pass(7_000);
  }
  expect(new Set(outcomes)).toEqual(new Set(['complete']));
  expect(at.query('SELECT DISTINCT outcome FROM runs')).toEqual([{ outcome: 'complete' }]);
  expect(at.runs.length).toBeGreaterThanOrEqual(minutes - 1);
  // The first start begins the secrets, and says so.
  expect(at.log.filter(({ level, msg }) => level >= 40 && !msg.startsWith('this begins new secrets'))).toEqual([]);
  // Renewed by whoever comes first, and used by all: about one for each life of a token.
  const renewals = at.requests.filter((request) => request === 'POST /auth/oauth/token').length;
  expect(renewals).toBeGreaterThan(minutes);
  expect(renewals).toBeLessThanOrEqual(minutes * 6);
});
