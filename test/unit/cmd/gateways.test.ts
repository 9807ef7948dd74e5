import { beforeEach, describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

let sandbox: EmbeddedSandbox;
let line: Testbed<'command'>;

beforeEach(async () => {
  sandbox = await testbed({ level: 'sandbox', vendors: 3 });
  line = await testbed({ level: 'command', service: sandbox });
});

describe('gateways remove', () => {
  const sgids = (): number[] =>
    sandbox.sandbox
      .gateways('6BApk')
      .all()
      .map(({ sgid }) => Number(sgid))
      .sort((a, b) => a - b);

  it('removes a gateway, and the mirror knows it', async () => {
    await line.run('sync', ...account);
    const [first, second] = sgids();
    const { status, stdout } = await line.run('gateways', 'remove', String(first), '--yes', ...account);
    expect(status).toBe(0);
    expect(stdout).toBe(`Gateway ${first} is removed; only the service's own interface can enable it again.\n`);
    expect(sgids()).toEqual([second]);
    const { stdout: listed } = await line.run('gateways', 'list', '--json', ...account);
    const { gateways } = JSON.parse(listed) as { gateways: { sgid: number; removed_at: string | null }[] };
    expect(gateways.map(({ sgid, removed_at }) => [sgid, removed_at !== null])).toEqual([
      [first, true],
      [second, false],
    ]);
  });

  it('exits with 77 for a gateway that is not there', async () => {
    expect((await line.run('gateways', 'remove', '9', '--yes', ...account)).status).toBe(77);
  });

  it('removes nothing without a confirmation', async () => {
    expect((await line.run('gateways', 'remove', String(sgids()[0]), ...account)).status).toBe(64);
    const asked = await testbed({ level: 'command', service: sandbox, typed: 'n\n' });
    const { status, stderr } = await asked.run('gateways', 'remove', String(sgids()[0]), ...account);
    expect(status).toBe(1);
    expect(stderr).toContain(`enable a gateway again. Remove ${sgids()[0]} of 6BApk? [y/N]`);
    expect(stderr).toContain('Nothing was done.');
    expect(sgids()).toHaveLength(2);
  });
});

describe('gateways list', () => {
  it('says since when and why the service does not list them, beside what was mirrored before', async () => {
    await line.run('sync', ...account);
    expect((await line.run('gateways', 'list')).stderr).toBe('');
    for (let times = 0; times < 5; times++)
      sandbox.sandbox.faults.next({ kind: 'redirect', match: ({ path }) => path.endsWith('/gateways') });
    await line.run('sync', ...account);
    const { status, stdout, stderr } = await line.run('gateways', 'list');
    expect([status, stdout.split('\n').filter((row) => row.includes('6BApk'))]).toEqual([
      0,
      [expect.anything(), expect.anything()],
    ]);
    expect(stderr).toMatch(
      /^6BApk: the service has not listed its gateways since \S+ \S+ UTC; .* from before: .*redirect/,
    );
    const { unlisted } = JSON.parse((await line.run('gateways', 'list', '--json')).stdout) as { unlisted: unknown[] };
    expect(unlisted).toMatchObject([{ account_id: '6BApk', message: expect.stringContaining('redirect') as string }]);
  });
});
