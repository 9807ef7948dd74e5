/** A migration that is killed while it rebuilds the largest table starts again, and nothing is lost. */
import { copyFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { asked } from '../../support/test-size.ts';
import { ask, temporaryFolder } from '../../support/mirror-file.ts';
import { fillVersions, migrationsBefore, writeOlder } from '../../support/mirror/older-file.ts';
import { testbed } from '../../support/testbed.ts';

const kills = asked('MIGRATION_KILLS', 3);

const everyVersion =
  'SELECT count(*) AS versions, sum(seq) AS seqs, sum(length(raw)) AS bytes, count(valid_to) AS closed FROM vendor_versions';
const latest = 'SELECT max(number) AS latest FROM migrations';

it(
  `F10 a migration that is killed ${kills} times changes nothing each time, and then completes`,
  { timeout: 120_000 },
  async () => {
    const folder = temporaryFolder();
    const older = join(folder, 'older.db');
    await writeOlder(older, migrationsBefore('0004', join(folder, 'older')), (sqlite) => fillVersions(sqlite, 22_000));
    const before = ask(older, everyVersion);
    const sandbox = await testbed({ level: 'sandbox', vendors: 20 });
    const at = await testbed({ level: 'program', service: sandbox, accounts: [sandbox.account] });
    copyFileSync(older, at.database);

    for (let nth = 0; nth < kills; nth++) {
      const child = at.start('sync', '--json');
      const exited = once(child, 'exit');
      // The first percents and the last ones too; after the last, the commit is under way.
      await saying(
        child.stderr!,
        `Migrating the mirror: ${Math.round((nth * 100) / Math.max(1, kills - 1) / 10) * 10} %`,
      );
      child.kill('SIGKILL');
      await exited;
      const sqlite = new Driver(at.database);
      expect(sqlite.pragma('integrity_check', { simple: true }), `kill ${nth}`).toBe('ok');
      const [{ latest: applied }] = sqlite.prepare(latest).all() as [{ latest: number }];
      expect(applied, `kill ${nth}`).toBeGreaterThanOrEqual(3);
      expect(sqlite.prepare(everyVersion).all(), `kill ${nth}`).toEqual(before);
      sqlite.close();
      // Where the commit was faster than the kill, there is nothing left to kill.
      if (applied > 3) copyFileSync(older, at.database);
    }
    const { status, stderr } = await at.run('sync', '--json');
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('Migrating the mirror: 100 %');
    expect(
      ask(at.database, everyVersion.replace('FROM vendor_versions', "FROM vendor_versions WHERE account_id = 'older'")),
    ).toEqual(before);
  },
);

/** Resolves when the stream has said it. */
function saying(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    let said = '';
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(text)) resolve();
    });
  });
}
