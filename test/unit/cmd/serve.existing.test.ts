/** A start whose files are not where they should be: an empty mount point, a misspelt path. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

it('L104 a first command says which files it makes, and where; a second one does not', async () => {
  const line = await testbed({ level: 'command', service: {}, hasMirror: false });
  const secrets = join(line.folder, 'secrets.db');
  const { stderr } = await line.run('sync', ...account);
  expect(stderr).toContain(`this begins a new mirror, ${line.database}, and new secrets, ${secrets}; if there should`);
  expect((await line.run('sync', ...account)).stderr).toBe('');
  rmSync(secrets);
  expect((await line.run('sync', ...account)).stderr).toContain(`this begins new secrets, ${secrets}; if there`);
});

it.each([['doctor'], ['verify'], ['callbacks', 'list']])(
  'L104 %s looks with files that it removes again, and says nothing of them',
  async (...command) => {
    const line = await testbed({
      level: 'command',
      service: {},
      settings: 'listener: { port: 0 }\nadmin: { port: 0 }',
    });
    const { stderr } = await line.run(...command, ...account);
    expect([stderr.includes('this begins'), existsSync(line.database)]).toEqual([false, false]);
  },
);

it('L104 nothing is said of the files of the built-in sandbox', async () => {
  const line = await testbed({ level: 'command', hasMirror: false });
  expect((await line.run('sync', ...account)).stderr).not.toContain('this begins');
});

it.each([
  [
    'both files',
    ['vendors.db', 'secrets.db'],
    /a new mirror, \S+vendors\.db, and new secrets, \S+secrets\.db, and --ex/,
  ],
  ['the mirror', ['vendors.db'], /begin a new mirror, \S+vendors\.db, and --existing/],
  ['the secrets', ['secrets.db'], /begin new secrets, \S+secrets\.db, and --existing/],
])('L104 serve --existing makes nothing where it misses %s', async (_, missing, message) => {
  const line = await testbed({ level: 'command', service: {}, hasMirror: false });
  await line.run('sync', ...account);
  for (const name of missing) rmSync(join(line.folder, name));
  const { status, stderr } = await line.run('serve', '--existing');
  expect(status).toBe(78);
  expect(stderr).toMatch(message);
  expect(missing.filter((name) => existsSync(join(line.folder, name)))).toEqual([]);
});

it('L104 serve --existing takes neither an empty file for a mirror nor one that no run began to fill', async () => {
  const line = await testbed({ level: 'command', service: {} });
  await line.run('callbacks', 'register', 'bill_vendor', 'https://hooks.example.com/inbox', ...account);
  const { status, stderr } = await line.run('serve', '--existing');
  expect([status, stderr]).toEqual([78, expect.stringContaining('vendors.db, which holds nothing yet, and --ex')]);
  writeFileSync(line.database, '');
  expect((await line.run('serve', '--existing')).stderr).toContain('begin a new mirror');
});

it('L104 serve --existing goes on where both files are there', async () => {
  const line = await testbed({ level: 'command', service: {}, settings: 'listener: { port: 0 }\nadmin: { port: 0 }' });
  await line.run('sync', ...account);
  line.interruption.abort(new Error('Enough.'));
  expect((await line.run('serve', '--existing')).stderr).not.toContain('--existing');
});
