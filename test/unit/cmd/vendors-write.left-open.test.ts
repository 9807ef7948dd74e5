/** Edits of which nobody knows what became of them: the next command on the vendor looks before it sends anything. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { Wire } from '../../../src/sandbox/core/vendor-record.ts';
import { Writes } from '../../../src/store/writes.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

let sandbox: EmbeddedSandbox;
let line: Testbed<'command'>;
let vendorid: number;
/** Methods of the requests about vendors, since the last look at them. */
let sent: string[];
/** What happens to the next write. */
let next: 'nothing' | 'answer lost' | 'lost';
/** What the mirror held of edits when a write left. */
let held: unknown[];

const through: typeof globalThis.fetch = async (input, init = {}) => {
  const method = init.method ?? 'GET';
  sent.push(method);
  if (method === 'GET') return fetch(input, init);
  held = edits();
  const fate = next;
  next = 'nothing';
  const answer = fate === 'lost' ? undefined : await fetch(input, init);
  if (fate === 'nothing' && answer) return answer;
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
};

beforeEach(async () => {
  [next, held, sent] = ['nothing', [], []];
  sandbox = await testbed({ level: 'sandbox', vendors: 3 });
  line = await testbed({ level: 'command', service: sandbox, fetch: through, env: { USER: 'anna' } });
  await line.run('sync', ...account);
  vendorid = Number(ofService().listed()[0]?.['vendorid']);
  sent = [];
});

const ofService = () => sandbox.sandbox.vendors('6BApk');
const truth = (): Wire | undefined =>
  ofService()
    .all()
    .find((vendor) => vendor['vendorid'] === vendorid);

function mirror(sql: string): unknown[] {
  const file = new Driver(line.database);
  const found = file.prepare(sql).all();
  file.close();
  return found;
}
const edits = (): unknown[] => mirror('SELECT vendorid, fields, sent_by FROM _edits ORDER BY id');
const marked = (): unknown[] => mirror('SELECT vendorid, reason FROM dirty_vendors');

const vendors = (command: string, ...more: string[]) =>
  line.run('vendors', command, String(vendorid), ...more, ...account);
const edit = (pair: string, ...more: string[]) => vendors('edit', '--set', pair, ...more);

/** An edit whose outcome stays open: its answer is lost, and nobody can look. */
async function leaveOpen(fate: typeof next, command: string, ...more: string[]): Promise<void> {
  next = fate;
  sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
  const { status } = await vendors(command, ...more);
  expect([status, sent]).toEqual([69, ['PUT', 'GET']]);
  sent = [];
}

describe('P9 an edit that is about to be sent', () => {
  it.each([
    [
      ['edit', '--set', 'city=Oz', '--set', 'phone=1'],
      ['city', 'phone'],
    ],
    [['delete', '--yes'], ['vis_state']],
    [['archive'], ['vis_state']],
    [['restore'], ['vis_state']],
  ])(
    'K45 is recorded with its field names before it is sent, and the vendor is marked: %j',
    async ([command, ...more], fields) => {
      let marks: unknown[] = [];
      const plain = line;
      line = await testbed({
        level: 'command',
        service: sandbox,
        fetch: (input, init) => {
          if (init.method === 'PUT') [held, marks] = [edits(), marked()];
          return fetch(input, init);
        },
        env: { USER: 'anna' },
      });
      await line.run('sync', ...account);
      expect((await vendors(command!, ...more)).status).toBe(0);
      expect(held).toEqual([{ vendorid, fields: JSON.stringify(fields), sent_by: 'anna' }]);
      expect(marks).toEqual([{ vendorid, reason: 'asked' }]);
      expect([edits(), marked()]).toEqual([[], []]);
      line = plain;
    },
  );

  it('K45 is closed if the service refuses it', async () => {
    const { status } = await edit(`note=${'x'.repeat(2_000)}`);
    expect([status, held.length, edits(), marked()]).toEqual([77, 1, [], []]);
  });

  it('K45 does not change an earlier mark', async () => {
    mirror(
      `INSERT INTO dirty_vendors (account_id, vendorid, generation, marked_at, due_at, due_ms, attempts, reason)
       VALUES ('6BApk', ${vendorid}, 0, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 0, 0, 'asked') RETURNING 1`,
    );
    expect((await edit('city=Oz')).status).toBe(0);
    expect([edits(), marked()]).toEqual([[], [{ vendorid, reason: 'asked' }]]);
  });
});

describe('an edit whose outcome is unknown', () => {
  it('K45 P9 is checked by the next edit, and found to be carried out', async () => {
    await leaveOpen('answer lost', 'edit', '--set', 'city=Oz');
    expect(edits()).toEqual([{ vendorid, fields: '["city"]', sent_by: 'anna' }]);
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent, edits()]).toEqual([0, ['GET'], []]);
    expect(stderr).toMatch(
      /An edit \(city\) was sent at .* UTC by anna\. It is not known whether that was carried out\./,
    );
    expect(stderr).toContain(`The service already shows vendor ${vendorid} as requested; nothing was sent.`);
  });

  it('K45 P9 is reported before it is closed: after a death in between, the next edit checks it again', async () => {
    const ends = vi.spyOn(Writes.prototype, 'endEdits').mockRejectedValueOnce(new Error('It ended here.'));
    const first = await edit('city=Oz');
    expect([first.stdout, first.status]).toEqual([expect.stringContaining('Oz'), 70]);
    ends.mockRestore();
    ofService().edit(vendorid, { city: 'Rome' });
    sent = [];
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent, truth()?.['city']]).toEqual([1, ['GET'], 'Rome']);
    expect(stderr).toContain('without what is requested (city): somebody may have changed it since.');
  });

  it('K45 P9 that was not carried out is sent after the check', async () => {
    await leaveOpen('lost', 'edit', '--set', 'city=Oz');
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent, edits(), truth()?.['city']]).toEqual([0, ['GET', 'PUT'], [], 'Oz']);
    expect(stderr).toContain(`The service shows vendor ${vendorid} as it was before that.`);
  });

  it('K45 P9 is not repeated over a later change by a colleague, however often it is requested', async () => {
    await leaveOpen('answer lost', 'delete', '--yes');
    ofService().restore(vendorid);
    for (const { status, stderr } of [await vendors('delete', '--yes'), await vendors('delete', '--yes')]) {
      expect([status, truth()?.['vis_state']]).toEqual([1, 0]);
      expect(stderr).toContain('without what is requested (vis_state): somebody may have changed it since.');
    }
    expect(sent).toEqual(['GET', 'GET']);
    expect((await vendors('delete', '--yes', '--again')).status).toBe(0);
    expect([sent, edits(), truth()?.['vis_state']]).toEqual([['GET', 'GET', 'PUT'], [], 1]);
  });

  it('K45 P9 is recognised as overtaken if a sweep has applied a change by a colleague', async () => {
    await leaveOpen('lost', 'edit', '--set', 'city=Oz');
    ofService().edit(vendorid, { city: 'Rome' });
    await line.run('sync', ...account);
    sent = [];
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent, truth()?.['city']]).toEqual([1, ['GET'], 'Rome']);
    expect(stderr).toContain('changed since then (city, updated_at)');
  });

  it('K45 P9 does not prevent other fields from being set after the check', async () => {
    await leaveOpen('answer lost', 'edit', '--set', 'city=Oz');
    const { status, stderr } = await edit('phone=1');
    expect([status, sent]).toEqual([0, ['GET', 'PUT']]);
    expect(stderr).toContain(`The service shows vendor ${vendorid} changed since then (city, updated_at).`);
    expect(edits()).toEqual([{ vendorid, fields: '["city"]', sent_by: 'anna' }]);
  });

  it('K45 P9 stays open if --again sets other fields', async () => {
    await leaveOpen('answer lost', 'delete', '--yes');
    expect((await edit('phone=1', '--again')).status).toBe(0);
    expect([sent, edits()]).toEqual([['PUT'], [{ vendorid, fields: '["vis_state"]', sent_by: 'anna' }]]);
    expect((await vendors('delete', '--yes')).status).toBe(0);
    expect([sent, edits()]).toEqual([['PUT', 'GET'], []]);
  });

  it('K45 P9 is followed by no request if the vendor cannot be read', async () => {
    await leaveOpen('lost', 'edit', '--set', 'city=Oz');
    sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent, edits().length]).toEqual([77, ['GET'], 1]);
    expect(stderr).toContain('The vendor could not be read: ');
    expect(stderr).toContain('Nothing was sent.');
  });

  it('K45 P9 of a vendor that was not in the mirror is not repeated', async () => {
    line = await testbed({ level: 'command', service: sandbox, fetch: through });
    await leaveOpen('lost', 'edit', '--set', 'city=Oz');
    const { status, stderr } = await edit('city=Oz');
    expect([status, sent]).toEqual([1, ['GET']]);
    expect(stderr).toContain('which was not in the mirror then');
  });

  it('K45 P9 of another account or vendor does not count', async () => {
    await leaveOpen('answer lost', 'edit', '--set', 'city=Oz');
    const other = Number(ofService().listed()[1]?.['vendorid']);
    const { status } = await line.run('vendors', 'edit', String(other), '--set', 'city=Oz', ...account);
    expect([status, sent]).toEqual([0, ['PUT']]);
    mirror(`UPDATE _edits SET account_id = 'other' RETURNING 1`);
    expect((await edit('city=Oz')).status).toBe(0);
    expect(sent).toEqual(['PUT', 'PUT']);
  });
});
