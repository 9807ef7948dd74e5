/** Many accounts, and one thing that is wrong with them: what people read of it is a few lines. */
import { describe, expect, it } from 'vitest';
import { summaryLines } from '../../../src/cmd/live-summary.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { printText } from '../../../src/cmd/status.ts';
import { advice, causesOf } from '../../../src/health/causes.ts';
import { judge, type AccountFacts, type HealthFacts } from '../../../src/health/judge.ts';
import { accountsPage } from '../../../src/admin/page/accounts-page.ts';
import { account, before, facts, noon, run } from '../../support/admin/sample.ts';
import { publicUrl, token } from '../../support/names.ts';
import { collector } from '../../support/testbed/command.ts';
import { testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const minute = 60_000;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `A${index + 1}`);

const dead: Partial<AccountFacts> = {
  connection: 'clients',
  runs: [run(9, { outcome: 'failed', error: 'The token is unknown.', error_code: 'unauthenticated' })],
};
const failing = {
  ...{ connection: 'clients', requests: 7, first_at: before(minute), last_at: before(1), code: 'unauthenticated' },
  ...{ message: 'The token is unknown.', remedy: null },
};

/** A mirror of so many accounts, of which the first ones are like this. */
const mirrorOf = (count: number, troubled = 0, change: Partial<AccountFacts> = dead): HealthFacts =>
  facts(names(count).map((id, index) => account({ ...(index < troubled && change), account: id })));

async function statusOf(given: HealthFacts): Promise<string[]> {
  const { stream, text } = collector();
  const context = { stdout: stream, env: {}, clock: virtualClock({ start: noon }) } as unknown as ProcessContext;
  await printText(context, judge(given, noon), { ofEach: new Map(), ofAll: [] });
  return text().trimEnd().split('\n');
}

async function summaryOf(given: HealthFacts): Promise<string[]> {
  const { stream } = collector(100);
  const options = { dashboard: 'http://127.0.0.1:8788', entries: [], room: 60 };
  return summaryLines({ stdout: stream, env: { NO_COLOR: '1' } }, judge(given, noon), options);
}

describe('L98 a mirror of 1,000 accounts', () => {
  it('that are in order is a few lines of status and of the live summary', async () => {
    const lines = await statusOf(mirrorOf(1_000));
    expect(lines[0]).toMatch(/^Your mirror is correct as of .+; nothing to do\.$/);
    const text = lines.join('\n');
    expect(text).toContain('\n1,000 accounts\n  vendors     1,602,000 active');
    expect(text).toContain('`vendor-mirror status --account ID` shows one of them');
    expect(lines.length).toBeLessThanOrEqual(14);
    expect((await summaryOf(mirrorOf(1_000))).length).toBeLessThanOrEqual(20);
  });

  it('whose token is dead has one cause and one thing to do, with the first accounts by name', async () => {
    const given = mirrorOf(1_000, 400);
    const said = '400 accounts (A1, A2, A3 and 397 more): The service refuses access (unauthenticated)';
    const lines = await statusOf(given);
    expect(lines[0]).toContain('one thing to do');
    expect(lines.filter((line) => line.includes(said))).toHaveLength(1);
    expect(lines.length).toBeLessThanOrEqual(15);
    const summary = await summaryOf(given);
    expect(summary.join(' ').replaceAll(/ +/g, ' ')).toContain(said);
    expect(summary.length).toBeLessThanOrEqual(22);
    const health = judge(given, noon);
    const page = accountsPage(health, null);
    expect(Buffer.from(page.body).toString('utf8')).toContain(said);
    expect(causesOf(health)).toMatchObject([{ problem: { code: 'access_refused' }, accounts: names(400) }]);
  });

  it('of several connections names that which gives no access, once', () => {
    const given = mirrorOf(1_000, 400);
    const connections = [
      { connection: 'default', accounts: 600, failing: null },
      { connection: 'clients', accounts: 400, failing },
    ];
    const toDo = advice(judge({ ...given, connections }, noon));
    expect(toDo).toEqual([
      expect.stringMatching(/^400 accounts \(A1, A2, A3 and 397 more\): The connection clients has given no access to/),
    ]);
  });

  it('keeps apart what has other causes, and what a few accounts say differently', () => {
    const outdated = { ...account().freshness, safe_as_of: before(9 * 3_600_000), listed_as_of: before(9 * 3_600_000) };
    const given = mirrorOf(20, 5);
    const others = given.accounts.map((one, index): AccountFacts => {
      if (index === 10) return { ...one, withheldAbsences: 4 };
      if (index === 11) return { ...one, withheldAbsences: 5 };
      return index > 13 ? { ...one, freshness: outdated } : one;
    });
    const causes = causesOf(judge({ ...given, accounts: others }, noon));
    expect(causes.map(({ problem, accounts }) => [problem.code, accounts.length])).toEqual([
      ['stale', 6],
      ['access_refused', 5],
      ['token_sees_less', 1],
      ['token_sees_less', 1],
    ]);
  });
});

it('L98 status and doctor of 14 accounts, 7 of them with a dead token, say it once', async () => {
  const [alive, refused] = [names(14).slice(0, 7), names(14).slice(7)];
  const settings = `accounts: [${alive.join(', ')}, ${refused.map((id) => `{ id: ${id}, connection: clients }`).join(', ')}]
connections: { clients: { auth: { accessTokenCommand: echo of-nobody } } }
listener: { port: 0 }
admin: { port: 0 }`;
  const line = await testbed({ level: 'command', service: { account: names(14), vendors: 3 }, settings });
  await line.run('sync');
  const status = (await line.run('status')).stdout;
  expect(status.match(/A10/g)).toHaveLength(3);
  expect(status).toMatch(/7 accounts \(A10, A11, A12 and 4 more\): The connection clients has given no access/);
  expect(status.split('\n').length).toBeLessThanOrEqual(30);

  const { stdout, status: exit } = await line.run('doctor');
  expect(exit).toBe(77);
  expect(stdout).toMatch(/^problem +7 accounts \(A8, A9, A10 and 4 more\) access: /m);
  expect(stdout).toContain('accounts: 14 accounts were checked, and 7 of them are in order.');
  expect(stdout.split('\n').length).toBeLessThanOrEqual(40);
}, 60_000);

it.each([
  ['a dead token', 'service.auth gives no access to its 20 accounts: ', 'service.auth gives access again'],
  ['an outage', 'for all 20 accounts of the connection default', 'service_unavailable is over: it lasted '],
])(
  'L98 %s of 20 accounts is one line of the log, and one when it is over',
  async (kind, begins, ends) => {
    let isDown = false;
    const at = await testbed({
      level: 'daemon',
      started: false,
      accounts: names(20),
      vendors: 2,
      rateLimits: null,
      answer: () => (isDown ? new Response('Down.', { status: 503 }) : undefined),
      settings: {
        listener: { host: '127.0.0.1', port: 0, publicUrl },
        schedule: { reconcile: '*/5 * * * *', pull: '0 3 * * *', timezone: 'UTC' },
      },
    });
    const said = (from: number): string[] =>
      at.log
        .slice(from)
        .map(({ msg }) => msg)
        .filter((msg) => !/ complete$| is verified/.test(msg));
    await at.start();
    await at.clock.pass(6 * minute);
    const before = at.log.length;
    if (kind === 'an outage') isDown = true;
    else at.sandbox.access.revoke(token);
    await at.clock.pass(11 * minute);
    expect(said(before)).toEqual([expect.stringContaining(begins)]);

    isDown = false;
    at.sandbox.access.grant(token);
    const during = at.log.length;
    await at.clock.pass(30 * minute);
    expect(said(during)).toEqual([expect.stringContaining(ends)]);
  },
  120_000,
);
