import { expect, it } from 'vitest';
import { statSync } from 'node:fs';
import { constantRandom } from '../../../support/random.ts';
import { FilePlace } from '../../../../src/store/places/file-place.ts';
import type { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { namedProcess, newPath, openDatabase } from '../../../support/mirror-file.ts';

it('F6 a command beside a daemon copies the journal, and no commit of the daemon has to', async () => {
  const path = newPath();
  const daemon = new FilePlace(await openDatabase(path), namedProcess()(path, constantRandom()));
  await daemon.beginDaemon(`${path}.secrets`);
  const command = await openDatabase(path);
  await daemon.database.write(() => daemon.database.sqlite.exec('CREATE TABLE much (bytes BLOB)'));
  await daemon.copyJournal();
  /** Whether the file alone has grown after a commit of so many pages. */
  const grows = async (database: SqliteDatabase, pages: number): Promise<boolean> => {
    const before = statSync(path).size;
    await database.write(() => database.sqlite.prepare('INSERT INTO much VALUES (zeroblob(?))').run(pages * 4_096));
    return statSync(path).size > before;
  };
  expect(await grows(daemon.database, 1_200)).toBe(false);
  expect(await grows(command, 10)).toBe(true);
  await command.close();
  await daemon.close();
});
