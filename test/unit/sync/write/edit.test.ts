/** Edits whose outcome is unknown, in virtual time: when the vendor is read, and what other processes have under way. */
import { expect, it } from 'vitest';
import type { VendorEdit } from '../../../../src/api/requests.ts';
import type { FaultKind } from '../../../../src/sandbox/core/worlds.ts';
import type { WriteReport } from '../../../../src/sync/write/answer.ts';
import { editVendor } from '../../../../src/sync/write/edit.ts';
import { account } from '../../../support/names.ts';
import { deadProcess, livingProcess } from '../../../support/testbed/account.ts';
import { testbed } from '../../../support/testbed.ts';
import { itInFiles } from '../../../support/testbed/store.ts';

const lag = 5_000;
const toBoise = { city: 'Boise' };

/** A mirror of three vendors, and the requests about the first of them, each with its time since the last look at them. */
async function opened() {
  const at = await testbed({ level: 'account', vendors: 3, settings: { sync: { lag: `${lag}ms` } } });
  await at.pull();
  const vendorid = Number(at.sandbox.vendors(account).listed()[0]?.['vendorid']);
  const begun = at.clock.monotonic();
  const sent: [method: string, at: number][] = [];
  at.sandbox.onRequest(({ method, path }) => {
    if (path.endsWith(`/${vendorid}`)) sent.push([method, at.clock.monotonic() - begun]);
  });
  const edit = async (fields: VendorEdit): Promise<WriteReport> => {
    const reports: WriteReport[] = [];
    const tell = (report: WriteReport): void => void reports.push(report);
    const { signal } = new AbortController();
    await editVendor(at.installation.account(account), vendorid, fields, { signal, again: false, by: null, tell });
    return reports[0]!;
  };
  const fault = (kind: FaultKind, method: string): void =>
    at.sandbox.faults.next({ kind, match: (request) => request.method === method });
  const cities = (): unknown[] => at.query(`SELECT city FROM vendors WHERE vendorid = ${vendorid}`);
  return { at, vendorid, sent, edit, fault, cities };
}

it('K45 P9 after an edit whose answer is lost, the vendor is read once no copy can be older than the edit', async () => {
  const { sent, edit, fault, cities } = await opened();
  fault('reset_after', 'PUT');
  await edit(toBoise);
  expect(sent).toEqual([
    ['PUT', 0],
    ['GET', lag],
  ]);
  expect(cities()).toEqual([toBoise]);
});

it.each<FaultKind>(['stall', 'truncated'])(
  'K45 P9 an edit whose answer is incomplete is sent once: %s',
  async (kind) => {
    const { sent, edit, fault, cities } = await opened();
    fault(kind, 'PUT');
    const { notes } = await edit(toBoise);
    expect(notes[0]).toContain('It may have been carried out nevertheless. The service shows that it was.');
    expect(sent.map(([method]) => method)).toEqual(['PUT', 'GET']);
    expect(cities()).toEqual([toBoise]);
  },
);

it('K45 P9 an edit that is never answered is sent again only after the vendor was read', async () => {
  const { sent, edit, fault, cities } = await opened();
  fault('hang', 'PUT');
  await edit(toBoise);
  expect(sent.map(([method]) => method)).toEqual(['PUT', 'GET', 'PUT']);
  expect(cities()).toEqual([toBoise]);
});

itInFiles?.(
  'K45 P9 a read closes the edits of this process and of dead ones, but not those that another process has under way',
  async () => {
    const { at, vendorid, edit } = await opened();
    const { mirror } = at.installation;
    for (const process of [livingProcess, deadProcess]) {
      const id = await mirror.writes.beginEdit(account, { vendorid, fields: ['city'], by: process, delay: 0 });
      at.write(`UPDATE _edits SET process = '${process}' WHERE id = ${id}`);
    }
    await edit(toBoise);
    expect(at.query('SELECT sent_by FROM _edits')).toEqual([{ sent_by: livingProcess }]);
  },
);
