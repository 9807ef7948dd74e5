import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MirrorError } from '../../../../src/domain/errors.ts';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { mirrorOptions } from '../../../../src/store/reader.ts';
import { CheckpointThread, type CheckpointAnswer, Journal } from '../../../../src/store/sqlite/journal.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { compiledCheckpoints } from '../../../support/source/compiled.ts';
import { fileClock, migrations, newPath, otherConnection } from '../../../support/mirror-file.ts';

const megabytes = 2 ** 20;

/** A mirror whose checkpoints are carried out when the test says so. */
async function mirrorWith(answer: (carryOut: () => void) => Promise<CheckpointAnswer>) {
  const path = newPath();
  const distrusted: MirrorError[] = [];
  const options = mirrorOptions({ path, migrations, clock: fileClock, random: systemRandom });
  const database = await SqliteDatabase.open({ ...options, onDistrust: (error) => distrusted.push(error) });
  onTestFinished(() => database.close());
  await database.write(() => database.sqlite.exec('CREATE TABLE bulk (bytes)'));
  await database.checkpoint();
  const other = otherConnection(path);
  let asked = 0;
  const journal = new Journal(database, {
    checkpoint() {
      asked += 1;
      return answer(() => void other.pragma('wal_checkpoint(PASSIVE)'));
    },
    stop: () => Promise.resolve(),
  });
  database.delegateCheckpoints(journal);
  const insert = database.sqlite.prepare('INSERT INTO bulk VALUES (zeroblob(?))');
  const write = async (bytes: number): Promise<void> => {
    for (let left = bytes; left > 0; left -= megabytes)
      await database.write(() => void insert.run(Math.min(left, megabytes)));
  };
  const extent = () => other.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
  return { path, database, journal, distrusted, write, extent: () => extent()[0], asked: () => asked };
}

/** Checkpoints that wait to be let go, one after the other. */
function heldBack() {
  const waiting: (() => void)[] = [];
  const answer = (carryOut: () => void): Promise<CheckpointAnswer> =>
    new Promise((done) => {
      waiting.push(() => {
        carryOut();
        done(undefined);
      });
    });
  return { answer, letGo: () => waiting.shift()?.() };
}

const atOnce = (carryOut: () => void): Promise<CheckpointAnswer> => {
  carryOut();
  return Promise.resolve(undefined);
};

describe('a journal that a thread checkpoints', () => {
  it('is not checkpointed by commits, but by the thread from 4 MB on, one checkpoint at a time', async () => {
    const { answer, letGo } = heldBack();
    const at = await mirrorWith(answer);
    await at.write(3 * megabytes);
    expect(at.asked()).toBe(0);
    await at.write(9 * megabytes);
    expect([at.asked(), at.extent().checkpointed]).toEqual([1, 0]);
    const { log } = at.extent();
    letGo();
    await fileClock.yield();
    expect(at.extent()).toMatchObject({ log, checkpointed: log });
    await at.write(1);
    expect(at.extent().log).toBeLessThan(10);
  });

  it('makes large writers wait at 32 MB until everything is in the file and the journal starts over', async () => {
    const { answer, letGo } = heldBack();
    const at = await mirrorWith(answer);
    await at.write(31 * megabytes);
    await at.database.waitForRoom();
    await at.write(2 * megabytes);
    const waited: string[] = [];
    const both = [at.database.waitForRoom(), at.database.waitForRoom()].map((room) =>
      room.then(() => waited.push('room')),
    );
    await fileClock.yield();
    expect(waited).toEqual([]);
    // Deliveries go on meanwhile: a second checkpoint brings what the first one did not see.
    letGo();
    await at.write(1);
    await fileClock.yield();
    letGo();
    await Promise.all(both);
    expect(waited).toEqual(['room', 'room']);
    await at.write(1);
    expect(at.extent().log).toBeLessThan(10);
    await at.write(31 * megabytes);
    await at.database.waitForRoom();
  });

  it('makes no writer wait for a reader that never ends, and is tried again as it grows', async () => {
    const at = await mirrorWith(atOnce);
    const reader = otherConnection(at.path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM bulk').get();
    await at.write(40 * megabytes);
    await at.database.waitForRoom();
    const asked = at.asked();
    // Each time it has grown by 4 MB, not with each commit.
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(15);
    await at.write(2 * megabytes);
    await at.database.waitForRoom();
    expect(at.asked() - asked).toBeLessThanOrEqual(1);
    reader.exec('COMMIT');
    await at.write(9 * megabytes);
    expect(at.extent().log).toBeLessThan(3_000);
  });

  it('F3 makes the file unusable for this process if the thread cannot sync it', async () => {
    const fault = { message: 'disk I/O error', code: 'SQLITE_IOERR_FSYNC' };
    const at = await mirrorWith(() => Promise.resolve(fault));
    await expect(at.write(40 * megabytes)).rejects.toMatchObject({ code: 'database_unusable' });
    expect(at.distrusted).toMatchObject([{ code: 'database_unusable' }]);
  });

  it('is checkpointed by commits again if the thread has ended', async () => {
    const at = await mirrorWith(() => Promise.reject(new Error('ended')));
    await at.write(5 * megabytes);
    await fileClock.yield();
    await at.write(5 * megabytes);
    await at.database.waitForRoom();
    expect(at.asked()).toBe(1);
    expect(at.distrusted).toEqual([]);
    expect(at.extent().log).toBeLessThan(2_000);
  });
});

describe('the checkpoint thread', () => {
  it('checkpoints beside a reader and a writer, and closes both files when it is stopped', async () => {
    const at = await mirrorWith(atOnce);
    const thread = new CheckpointThread(compiledCheckpoints, at.path);
    await at.database.write(() => at.database.sqlite.exec('INSERT INTO bulk VALUES (zeroblob(100000))'));
    const { log } = at.extent();
    expect(await thread.checkpoint()).toBeUndefined();
    expect(at.extent()).toMatchObject({ log, checkpointed: log });
    const underWay = thread.checkpoint().catch((error: unknown) => error);
    await thread.stop();
    await underWay;
    await expect(thread.checkpoint()).rejects.toThrow('ended');
  });

  it('F8 does not touch another file that took the name of the journal', async () => {
    const at = await mirrorWith(atOnce);
    const thread = new CheckpointThread(compiledCheckpoints, at.path);
    onTestFinished(() => thread.stop());
    await at.database.write(() => at.database.sqlite.exec('INSERT INTO bulk VALUES (1)'));
    renameSync(`${at.path}-wal`, `${at.path}-elsewhere`);
    writeFileSync(`${at.path}-wal`, '');
    expect(await thread.checkpoint()).toMatchObject({ message: expect.stringContaining('replaced') as string });
    expect(existsSync(`${at.path}-elsewhere`)).toBe(true);
    renameSync(`${at.path}-elsewhere`, `${at.path}-wal`);
  });
});
