/** Cursors of the change feed: which text is one, which part of the history it names, and which histories refuse it. */
import { SqliteConnection } from '../../../../src/store/sqlite/connection.ts';
import { describe, expect, it, vi } from 'vitest';
import {
  cursorOf,
  cursorParts,
  cursors,
  feedEpochs,
  isCursor,
  lastSeq,
  latestCursor,
  resolveCursor,
  whyGone,
} from '../../../../src/store/reports/feed-cursor.ts';
import type { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { newPath, openDatabase } from '../../../support/mirror-file.ts';
import { inOrder } from '../../../../src/domain/concurrency.ts';

const [first, second, third] = ['11'.repeat(8), '22'.repeat(8), '33'.repeat(8)] as const;

/** A mirror of so many changes, in which each of these epochs begins after one of them. */
async function history(
  changes: number,
  epochs: readonly (readonly [epoch: string, after: number])[],
): Promise<SqliteDatabase> {
  const database = await openDatabase(newPath());
  const { sqlite } = database;
  sqlite.exec('DELETE FROM _feed_epochs');
  const insert = sqlite.prepare('INSERT INTO _feed_epochs (epoch, after_seq) VALUES (?, ?)');
  for (const epoch of epochs) insert.run(...epoch);
  for (let change = 0; change < changes; change += 1) write(database);
  return database;
}

/** The next change of the feed. */
function write({ sqlite }: SqliteDatabase): void {
  sqlite.exec(`INSERT INTO _vendor_versions (account_id, vendorid, valid_from, vis_state_source, presence, changed_fields, source)
    VALUES ('one', 1, '2026-11-20 09:00:00.000', 'reported', 'present', '[]', 'pull')`);
}

describe('a cursor', () => {
  it.each([
    [`${first}:0`, { epoch: first, seq: 0, known: 0 }],
    ['0123456789abcdef:42', { epoch: '0123456789abcdef', seq: 42, known: 42 }],
    [`${first}:999999999999999`, { epoch: first, seq: 999_999_999_999_999, known: 999_999_999_999_999 }],
    [`${first}:42~50`, { epoch: first, seq: 42, known: 50 }],
    [`${first}:42~`, undefined],
    [`${first}:1000000000000000`, undefined],
    [`${first}:`, undefined],
    [`${first}:-1`, undefined],
    [`${first}:1 `, undefined],
    [` ${first}:1`, undefined],
    [`a${first}:1`, undefined],
    ['0123456789ABCDEF:1', undefined],
    ['0123456789abcdeg:1', undefined],
    ['0123456789abcde:1', undefined],
    ['', undefined],
  ])('of the text "%s" has the parts %o', (text, parts) => {
    expect([cursorParts(text), isCursor(text)]).toEqual([parts, parts !== undefined]);
  });

  it.each(['0', '42', '999999999999999', '1000000000000000', '-1', '1.5', 'x1', '1x'])(
    'L88 is not the plain number "%s", which names no history',
    (text) => {
      expect([isCursor(text), cursorParts(text)]).toEqual([false, undefined]);
    },
  );

  it('is refused in words that say what happened', () => {
    expect(whyGone({ reason: 'removed' })).toBe('Changes after this cursor were removed.');
    expect(whyGone({ reason: 'other_history' })).toBe(
      'This cursor belongs to another history: the mirror was rebuilt, restored from a copy, or moved to PostgreSQL.',
    );
  });
});

describe('the cursor after a change', () => {
  it('names the last epoch that had begun before the change', async () => {
    // The second connection wrote nothing before the third began.
    const { sqlite } = await history(5, [
      [first, 0],
      [second, 2],
      [third, 2],
    ]);
    expect(await inOrder([0, 1, 2, 3, 5], (seq) => cursorOf(new SqliteConnection(sqlite), seq))).toEqual([
      `${first}:0`,
      `${first}:1`,
      `${first}:2`,
      `${third}:3`,
      `${third}:5`,
    ]);
    expect([await lastSeq(new SqliteConnection(sqlite)), await latestCursor(new SqliteConnection(sqlite))]).toEqual([
      5,
      `${third}:5`,
    ]);
  });

  it('names the first epoch that is known where its own was removed', async () => {
    const { sqlite } = await history(3, [
      [second, 2],
      [third, 3],
    ]);
    expect(await cursors(new SqliteConnection(sqlite))(1)).toBe(`${second}:1`);
  });

  it('is that of no change before the first', async () => {
    const { sqlite } = await history(0, [[first, 0]]);
    expect([
      await lastSeq(new SqliteConnection(sqlite)),
      await latestCursor(new SqliteConnection(sqlite)),
      await resolveCursor(new SqliteConnection(sqlite), `${first}:0`),
    ]).toEqual([0, `${first}:0`, 0]);
    sqlite.exec('DELETE FROM _feed_epochs');
    expect(await latestCursor(new SqliteConnection(sqlite))).toBe(':0');
  });
});

describe('a cursor in a history', () => {
  const gone = (reason: string, oldest: number) => ({ reason, oldest: `${first}:${oldest}`, latest: `${third}:6` });

  it.each([
    ['of the first epoch', `${first}:1`, 0, 1],
    ['at the end of its epoch', `${first}:2`, 0, 2],
    ['past the end of its epoch', `${first}:3`, 0, gone('other_history', 0)],
    ['of an epoch that is unknown', '44'.repeat(8) + ':1', 0, gone('other_history', 0)],
    ['of the last epoch', `${third}:5`, 0, 5],
    ['at the end of the feed', `${third}:6`, 0, 6],
    ['past the end of the feed', `${third}:7`, 0, gone('other_history', 0)],
    ['right before what was removed ends', `${first}:1`, 2, gone('removed', 2)],
    ['where what was removed ends', `${first}:2`, 2, 2],
    ['of one who began with all that is kept after what was removed,', `${first}:1~2`, 2, 1],
    [
      'of one who began so before more was removed',
      `${first}:1~2`,
      3,
      { ...gone('removed', 3), oldest: `${second}:3` },
    ],
    ['L88 of the future', `${third}:999999`, 0, gone('other_history', 0)],
    ['L88 that is a plain number', '3', 0, gone('other_history', 0)],
    ['L88 that is a plain number of the future', '999999', 0, gone('other_history', 0)],
  ])('%s (%s) leads, where changes up to %i were removed, to %o', async (_, cursor, removed, expected) => {
    const { sqlite } = await history(6, [
      [first, 0],
      [second, 2],
      [third, 4],
    ]);
    sqlite.prepare('DELETE FROM _vendor_versions WHERE seq <= ?').run(removed);
    expect(await resolveCursor(new SqliteConnection(sqlite), cursor)).toEqual(expected);
  });
});

describe('an epoch', () => {
  it('begins once for each connection, with its first change, and again where that failed', async () => {
    const database = await history(2, [[first, 0]]);
    const { sqlite } = database;
    const [one, other] = [feedEpochs(new SqliteConnection(sqlite)), feedEpochs(new SqliteConnection(sqlite))];
    const epochs = (): unknown[] => sqlite.prepare('SELECT epoch, after_seq FROM _feed_epochs ORDER BY position').all();
    await database
      .write(async () => {
        await one();
        throw new Error('The change failed.');
      })
      .catch(() => undefined);
    expect(epochs()).toHaveLength(1);
    await one();
    write(database);
    await one();
    write(database);
    const random: unknown = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(epochs()).toEqual([
      { epoch: first, after_seq: 0 },
      { epoch: random, after_seq: 2 },
    ]);
    await other();
    write(database);
    await one();
    expect(epochs().slice(2)).toEqual([{ epoch: random, after_seq: 4 }]);
    expect(new Set(epochs().map((row) => (row as { epoch: string }).epoch)).size).toBe(3);
  });

  it('is kept while it is among the last ten thousand', async () => {
    const { sqlite } = await history(0, [[first, 0]]);
    sqlite.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO _feed_epochs (position, epoch, after_seq) SELECT i, printf('%016x', i), 0 FROM n`);
    const begin = feedEpochs(new SqliteConnection(sqlite));
    const kept = (): unknown => sqlite.prepare('SELECT min(position), max(position) FROM _feed_epochs').raw().get();
    await begin();
    expect(kept()).toEqual([2, 10_001]);
    sqlite.exec("INSERT INTO _feed_epochs VALUES (10002, 'another', 0)");
    // An epoch that has begun removes none.
    await begin();
    expect(kept()).toEqual([2, 10_002]);
  });
});

it('the end of the feed is asked again and again: its statements are prepared once', async () => {
  const database = await history(1, [[first, 0]]);
  const prepare = vi.spyOn(database.sqlite, 'prepare');
  expect(await latestCursor(database.connection)).toBe(`${first}:1`);
  const prepared = prepare.mock.calls.length;
  write(database);
  expect(await latestCursor(database.connection)).toBe(`${first}:2`);
  expect(prepare.mock.calls.length).toBe(prepared);
});
