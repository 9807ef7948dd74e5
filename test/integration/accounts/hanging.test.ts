/** A service that takes requests and never answers them: what is said of it, and how soon. */
import { expect, it } from 'vitest';
import { advice } from '../../../src/health/causes.ts';
import { judge } from '../../../src/health/judge.ts';
import { accountStates } from '../../../src/store/account-reports.ts';
import { facts, newAccount } from '../../support/admin/sample.ts';
import { readMirror } from '../../support/mirror-file.ts';
import { account, otherAccount } from '../../support/names.ts';
import { unanswered } from '../../support/network/unanswered.ts';
import { isFresh } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const minute = 60_000;

interface Status {
  readonly accounts: readonly {
    readonly account: string;
    readonly reasons: readonly string[];
    readonly request_failures: Readonly<Record<string, unknown>> | null;
  }[];
}

async function statusOf(at: Testbed<'daemon'>, accountId: string): Promise<Status['accounts'][number] | undefined> {
  const { accounts } = JSON.parse((await at.look('/api/status')).body) as Status;
  return accounts.find((candidate) => candidate.account === accountId);
}

const advised = async (at: Testbed<'daemon'>): Promise<string> => {
  const state = await accountStates(readMirror(at.settings.database, at.clock).connection, at.clock)(account);
  return advice(judge(facts([{ ...newAccount(account), ...state }]), at.clock.now())).join('\n');
};

it('K17 an account that hangs from the first start is reported within a minute', async () => {
  let hangs = true;
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts: [account, otherAccount],
    answer: ({ pathname }, init) => (hangs && pathname.includes(`/${account}/`) ? unanswered(init) : undefined),
  });
  await at.start();
  await at.clock.pass(minute);
  const cause = expect.stringMatching(
    /^The last (request|\d+ requests) failed, .* ago: .* 30 s\..* slow or hangs/,
  ) as string;
  expect(await statusOf(at, account)).toMatchObject({
    reasons: [cause, expect.stringContaining('No sweep was complete yet')],
    request_failures: { code: 'service_timeout' },
  });
  expect(await statusOf(at, otherAccount)).toMatchObject({ reasons: [], request_failures: null });
  expect((await at.look('/')).body).toContain('slow or hangs');
  // `status` asks the file, which another process may have written.
  expect(await advised(at)).toMatch(/The last .* failed, .* slow or hangs/);

  hangs = false;
  await at.clock.until('it is whole', () =>
    at.runs.some(({ run, outcome }) => run.accountId === account && outcome === 'complete'),
  );
  await at.untilQuiet();
  expect(await statusOf(at, account)).toMatchObject({ reasons: [], request_failures: null });
  expect(await isFresh(at)).toBe(true);
});

it('failures that another process left behind are forgotten with the first answer', async () => {
  const at = await testbed({ level: 'daemon', started: false });
  const lost = { code: 'service_unreachable', message: 'The service cannot be reached.' } as const;
  for (let count = 0; count < 7; count += 1) await at.beside(({ mirror }) => mirror.requestFailures.add(account, lost));
  expect(await advised(at)).toMatch(
    /The last 7 requests failed, .*: The service cannot be reached\. Check service\.baseUrl/,
  );
  await at.start();
  await at.untilRuns();
  expect(await statusOf(at, account)).toMatchObject({ reasons: [], request_failures: null });
});
