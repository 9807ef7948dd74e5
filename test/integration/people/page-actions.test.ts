/** What a person asks for on the page, carried out by the daemon's own runs. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const token = 'canary-7d20aa';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

async function act(at: Testbed<'daemon'>, name: string, body: object = {}): Promise<number> {
  const url = `${at.daemon.addresses.admin}/api/actions/${name}`;
  const answer = await at.clock.busy(fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
  return answer.status;
}

const lastRun = (at: Testbed<'daemon'>): unknown =>
  at.query('SELECT kind, "trigger", outcome FROM runs ORDER BY id DESC LIMIT 1')[0];

it('runs what is requested, as the commands do, and marks no more vendors gone than a person approves', async () => {
  const at = await testbed({ level: 'daemon', settings: { admin: { port: 0, token } } });
  for (const [name, kind] of [
    ['sync', 'pull'],
    ['reconcile', 'reconcile'],
  ] as const) {
    const ended = at.untilRuns();
    expect(await act(at, name)).toBe(202);
    await ended;
    expect(lastRun(at)).toEqual({ kind, trigger: 'command', outcome: 'complete' });
  }

  const vendors = at.sandbox.vendors(account);
  for (const { vendorid } of vendors.all().slice(0, 25)) vendors.vanish(Number(vendorid));
  const refused = at.untilRuns();
  expect(await act(at, 'reconcile')).toBe(202);
  await refused;
  expect(lastRun(at)).toMatchObject({ outcome: 'incomplete' });
  const believed = at.untilRuns();
  expect(await act(at, 'approve', { account, absences: 25 })).toBe(202);
  await believed;
  expect(lastRun(at)).toMatchObject({ kind: 'reconcile', outcome: 'complete' });
  expect(at.query(`SELECT count(*) AS gone FROM vendors WHERE presence = 'gone'`)).toEqual([{ gone: 25 }]);
  expect(at.log.map(({ msg }) => msg)).toContain('a run was requested on the dashboard');
});
