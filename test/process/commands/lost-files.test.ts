/** L44: one of the two files is lost, or an older one is put back: what each command says, and that what it says to do helps. */
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watched } from '../../support/testbed/daemon-process.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** A daemon runs until its callback is verified and the list was read, and ends. */
async function served(at: Testbed<'program'>): Promise<string> {
  const daemon = watched(at.start('serve'));
  await daemon.logged('the callback for bill_vendor is verified');
  await daemon.swept();
  expect(await daemon.end()).toBe(0);
  return daemon.stderr();
}

async function mirrored() {
  const world = await testbed({ level: 'sandbox', vendors: 12 });
  const at = await testbed({ level: 'program', service: world, listens: true });
  await served(at);
  const lose = (name: string): void => {
    for (const file of readdirSync(at.folder)) if (file.startsWith(name)) rmSync(join(at.folder, file));
  };
  const check = async (
    name: string,
  ): Promise<{ result: string; message: string; remedy: string | null } | undefined> => {
    const { checks } = JSON.parse((await at.run('doctor', '--json')).stdout) as {
      checks: { check: string; result: string; message: string; remedy: string | null }[];
    };
    return checks.find(({ check: own }) => own === name);
  };
  /** What `status` says to do; that no daemon runs is so in each of these. */
  const problems = async (): Promise<string[]> => {
    const { accounts } = JSON.parse((await at.run('status', '--json')).stdout) as {
      accounts: { problems: { code: string }[] }[];
    };
    return accounts
      .flatMap((account) => account.problems.map(({ code }) => code))
      .filter((code) => code !== 'no_daemon');
  };
  return { at, lose, check, problems };
}

describe('L44 a file of the two', () => {
  it.each(['before', 'after'])(
    'the secrets are lost: told by doctor %s new ones are begun; serve gets a new key',
    async (when) => {
      const { at, lose, check, problems } = await mirrored();
      expect(await check('callbacks')).toMatchObject({ result: 'ok' });
      lose('secrets.db');
      if (when === 'after') expect((await at.run('sync')).stderr).toContain('this begins new secrets');
      expect(await check('callbacks')).toMatchObject({
        result: 'warning',
        message: expect.stringContaining('key of our callback') as string,
        remedy: expect.stringContaining('put them back') as string,
      });
      await served(at);
      expect([await problems(), (await check('callbacks'))?.result]).toEqual([[], 'ok']);
    },
  );

  it('the mirror is lost: a new one is begun, told, and complete', async () => {
    const { at, lose, check, problems } = await mirrored();
    lose('vendors.db');
    expect(await check('database')).toMatchObject({ message: expect.stringContaining('does not exist') as string });
    expect((await at.run('sync')).stderr).toContain('this begins a new mirror');
    expect(await problems()).toEqual([]);
    expect(at.query('SELECT 1 FROM vendors')).toHaveLength(12);
  });

  it('both are put back as they were before the callback was registered anew: what must be deleted is named', async () => {
    const { at, lose, problems } = await mirrored();
    for (const name of ['vendors.db', 'secrets.db'])
      copyFileSync(join(at.folder, name), join(at.folder, `old-${name}`));
    lose('secrets.db');
    await served(at);
    for (const name of ['vendors.db', 'secrets.db']) {
      lose(name);
      copyFileSync(join(at.folder, `old-${name}`), join(at.folder, name));
    }
    await served(at);
    const problem = (await at.run('status')).stdout;
    const [, remedy = ''] = /(callbacks delete \d+ --account \w+)/.exec(problem) ?? [];
    expect([await problems(), remedy]).toEqual([['callbacks_unknown'], expect.stringMatching(/^callbacks delete/)]);
    expect((await at.run(...remedy.split(' '))).status).toBe(0);
    expect((await at.run('sync')).status).toBe(0);
    expect(await problems()).toEqual([]);
  });
});
