import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changePage, readChanges, type Change } from '../../../../src/store/reports/change-feed.ts';
import { isCursor } from '../../../../src/store/reports/feed-cursor.ts';
import type { Query } from '../../../../src/store/sql/statement.ts';
import {
  otherConnection,
  readMirror,
  temporaryFolder,
  version,
  writeMirror,
  type Row,
} from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });
const everything = { since: 0, limit: 1_000 };

async function feedOf(
  versions: readonly Row[],
  filter: Partial<Parameters<typeof readChanges>[1]> = {},
): Promise<Change[]> {
  const path = join(temporaryFolder(), 'vendors.db');
  await writeMirror(path, clock, { vendor_versions: versions });
  return readChanges(readMirror(path, clock).connection, { ...everything, ...filter });
}

const active = { vis_state: 0, presence: 'present' };
const deleted = { vis_state: 1, presence: 'present' };
const archived = { vis_state: 2, presence: 'present' };
const missing = { vis_state: 1, presence: 'missing' };
const gone = { vis_state: 0, presence: 'gone' };
const stateless = { vis_state: null, presence: 'present' };

describe('the change feed', () => {
  it.each([
    [active, active, 'updated'],
    [active, deleted, 'deleted'],
    [active, archived, 'archived'],
    [deleted, archived, 'archived'],
    [deleted, active, 'restored'],
    [archived, active, 'restored'],
    [stateless, active, 'updated'],
    [active, missing, 'missing'],
    [active, gone, 'gone'],
    [missing, active, 'returned'],
    [gone, deleted, 'returned'],
    [missing, gone, 'gone'],
  ])('names the change from %j to %j %s', async (before, after, kind) => {
    const feed = await feedOf([version(1, [], before), version(1, ['vis_state'], after)]);
    expect(feed.map((change) => change.kind)).toEqual(['created', kind]);
  });

  it('does not report the oldest version that retention has left as a creation', async () => {
    expect((await feedOf([version(1, ['note'])]))[0]?.kind).toBe('updated');
  });

  it('compares a version with the one before it of the same vendor and account', async () => {
    const feed = await feedOf([
      version(1, [], deleted),
      version(2, [], active),
      version(1, [], { account_id: 'other' }),
      version(1, ['vis_state'], active),
      version(2, ['note'], active),
    ]);
    expect(feed.map(({ kind }) => kind)).toEqual(['created', 'created', 'created', 'restored', 'updated']);
  });

  it('leads from all changes that are kept to its end, page after page, past those that were removed', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    const versions = Array.from({ length: 160 }, (_, index) => version(index + 1, []));
    await writeMirror(path, clock, { vendor_versions: [...versions, version(1, ['note']), version(1, ['note'])] });
    const database = readMirror(path, clock);
    const query: Query = (report) => database.read(() => report(database.connection));
    const editor = otherConnection(path);
    editor.exec('DELETE FROM _vendor_versions WHERE seq = 161');
    editor.close();
    const seen: number[] = [];
    let since: string | undefined;
    for (let more = true; more;) {
      const page = await changePage(query, clock, { since, limit: 70 });
      if ('reason' in page) throw new Error(page.reason);
      seen.push(...page.changes.map(({ seq }) => seq));
      // Each change leads on, too.
      expect(await changePage(query, clock, { since: page.changes[9]!.cursor, limit: 1 })).toMatchObject({
        changes: [{ seq: page.changes[10]!.seq }],
      });
      ({ cursor: since, more } = page);
    }
    expect(seen).toEqual([...versions.map((_, index) => index + 1), 162]);
    expect(isCursor(String(since)) && !String(since).includes('~')).toBe(true);
  });

  it('is restricted by account, vendor, cursor and limit', async () => {
    const versions = [version(1, []), version(2, []), version(1, [], { account_id: 'other' }), version(1, ['note'])];
    const seqs = async (filter: Parameters<typeof feedOf>[1]): Promise<number[]> =>
      (await feedOf(versions, filter)).map(({ seq }) => seq);
    expect(await seqs({ account: 'other' })).toEqual([3]);
    expect(await seqs({ account: '6BApk', vendorid: 1 })).toEqual([1, 4]);
    expect(await seqs({ since: 2, limit: 1 })).toEqual([3]);
  });
});
