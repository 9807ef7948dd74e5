import { copyFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveCursor } from '../../../../src/store/reports/feed-cursor.ts';
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { compiled } from '../../../support/source/compiled.ts';
import { ask as sql, vendor, version, type Rows } from '../../../support/mirror-file.ts';
import { row } from '../../../support/testbed/store.ts';
import { testbed } from '../../../support/testbed.ts';

interface Page {
  changes: { seq: number; cursor: string; kind: string; values: object }[];
  cursor: string;
  more: boolean;
}

const history: Rows = {
  vendors: [vendor(11, { phone: '2' }), vendor(12)],
  vendor_versions: [
    version(11, [], { raw: '{"phone":"1"}' }),
    version(12, []),
    version(11, ['phone'], { raw: '{"phone":"2"}' }),
    version(12, ['vis_state'], { vis_state: 1 }),
  ],
};

async function over(rows: Rows) {
  const admin = await adminOverMirror(rows);
  const get = async (query: string): Promise<Page> => {
    const { status, body } = await admin.ask(`/api/changes${query}`);
    expect(status, body).toBe(200);
    return JSON.parse(body) as Page;
  };
  return { ...admin, get };
}

const numbers = ({ changes }: Page): number[] => changes.map(({ seq }) => seq);

describe('/api/changes', () => {
  it('lists every change with its old and new values, oldest first', async () => {
    const { get } = await over(history);
    const page = await get('');
    expect(page.changes).toMatchObject([
      { seq: 1, vendorid: 11, kind: 'created', values: {} },
      { seq: 2, vendorid: 12, kind: 'created', values: {} },
      { seq: 3, vendorid: 11, kind: 'updated', values: { phone: { old: '1', new: '2' } } },
      { seq: 4, vendorid: 12, kind: 'deleted', values: { vis_state: { old: 'active', new: 'deleted' } } },
    ]);
    expect(page).toMatchObject({ more: false, cursor: page.changes[3]?.cursor });
  });

  it('continues from the cursor of a page, of a change, and of an empty page', async () => {
    const { get, fill } = await over(history);
    const first = await get('?limit=2');
    expect([numbers(first), first.more]).toEqual([[1, 2], true]);
    expect(numbers(await get(`?since=${first.cursor}`))).toEqual([3, 4]);
    expect(numbers(await get(`?since=${String(first.changes[0]?.cursor)}`))).toEqual([2, 3, 4]);
    const end = await get('?since=latest');
    expect([numbers(end), end.more]).toEqual([[], false]);
    await fill({ vendor_versions: [version(12, ['note'])] });
    expect(numbers(await get(`?since=${end.cursor}`))).toEqual([5]);
  });

  it('lists changes of one account or vendor, with a cursor past those left out', async () => {
    const { get } = await over(history);
    const page = await get('?account=6BApk&vendorid=11');
    expect(numbers(page)).toEqual([1, 3]);
    expect(page.cursor).toMatch(/:4$/);
  });

  it('reads few versions in each turn of the event loop, and continues after many that its filter leaves out', async () => {
    const versions = Array.from({ length: 2_000 }, () => version(1, []));
    const { get, turns } = await over({ vendor_versions: [...versions, version(2, [])] });
    expect(numbers(await get('?account=6BApk&vendorid=2'))).toEqual([2_001]);
    expect(turns()).toBeGreaterThanOrEqual(5);
  });

  it.each([
    [
      '?since=yesterday',
      'since should be latest, or the `cursor` of a change or an answer, such as 9f86d081884c7d65:1043. A number alone does not say of which history it is. Without since, the feed begins at its first change.',
    ],
    [
      '?since=3',
      'since should be latest, or the `cursor` of a change or an answer, such as 9f86d081884c7d65:1043. A number alone does not say of which history it is. Without since, the feed begins at its first change.',
    ],
    ['?limit=201', 'limit should be a whole number from 1 to 200.'],
    ['?form=1', 'Unknown parameter; known are since, account, vendorid, limit.'],
  ])('refuses %s', async (query, message) => {
    const { ask } = await over({});
    const { status, body } = await ask(`/api/changes${query}`);
    expect([status, JSON.parse(body)]).toEqual([400, { error: 'bad_request', message }]);
  });
});

describe('a cursor that leads nowhere', () => {
  const gone = async (rows: Rows, since: string, reason: string): Promise<void> => {
    const { ask, get } = await over(rows);
    const { status, body } = await ask(`/api/changes?since=${since}`);
    const answer = JSON.parse(body) as { oldest: string; latest: string };
    expect([status, answer]).toMatchObject([410, { error: 'history_gone', reason }]);
    expect((await get(`?since=${answer.latest}`)).changes).toEqual([]);
    await get(`?since=${answer.oldest}`);
  };

  it('is answered with 410 and where to begin: of a mirror made anew', async () => {
    await gone(history, '0123456789abcdef:2', 'other_history');
  });

  it('is answered with 410 and where to begin: after which changes were removed', async () => {
    const { get, path, ask } = await over(history);
    const { changes } = await get('');
    remove(path, 2);
    const { status, body } = await ask(`/api/changes?since=${String(changes[0]?.cursor)}`);
    expect([status, JSON.parse(body)]).toMatchObject([410, { reason: 'removed', oldest: changes[1]?.cursor }]);
    expect(numbers(await get(`?since=${String(changes[1]?.cursor)}`))).toEqual([3, 4]);
  });
});

/** As a person's copy does: another program removes rows. */
function remove(path: string, seq: number): void {
  const other = new Driver(path);
  other.prepare('DELETE FROM _vendor_versions WHERE seq <= ?').run(seq);
  other.close();
}

describe('a mirror that was put back from a copy', () => {
  it('accepts cursors of the common history, and no others', async () => {
    const store = await testbed({ level: 'store' });
    const { path } = store.mirror;
    const cursors = (): string[] =>
      sql<{ cursor: string }>(
        path,
        `SELECT (SELECT epoch FROM _feed_epochs WHERE after_seq < seq ORDER BY after_seq DESC LIMIT 1) || ':' || seq AS cursor
         FROM vendor_versions ORDER BY seq`,
      ).map(({ cursor }) => cursor);
    const write = async (vendorid: number): Promise<unknown> => store.page(await store.ask(), row(vendorid, 'a'));

    const own = { secrets: `${path}.secrets`, readFrom: [] };
    await write(1);
    await store.reopen();
    await store.mirror.publish({ path: `${path}.copy`, format: 'db' }, { own, program: compiled.exports });
    await write(2);
    const before = cursors();
    expect(before).toHaveLength(2);

    await store.mirror.close();
    rmSync(`${path}-wal`, { force: true });
    copyFileSync(`${path}.copy`, path);
    await store.reopen();
    const look = async (cursor: string): Promise<unknown> =>
      store.mirror.query((sqlite) => resolveCursor(sqlite, cursor));
    expect(await look(before[0]!)).toBe(1);
    expect(await look(before[1]!)).toMatchObject({ reason: 'other_history' });
    await write(3);
    await write(4);
    expect(cursors()).toHaveLength(3);
    expect(await look(before[0]!)).toBe(1);
    expect(await look(before[1]!)).toMatchObject({ reason: 'other_history' });
    expect(await look(cursors()[1]!)).toBe(2);
  });
});
