/** Creations whose answer is lost, in virtual time: when the list is searched, and which vendor is taken as the new one. */
import { expect, it } from 'vitest';
import type { WriteReport } from '../../../../src/sync/write/answer.ts';
import { createVendor } from '../../../../src/sync/write/create.ts';
import { failureOf } from '../../../support/failure.ts';
import { account } from '../../../support/names.ts';
import { testbed } from '../../../support/testbed.ts';

const lag = 5_000;
const fields = { vendor_name: 'Acme', language: 'en', currency_code: 'USD' };

async function opened() {
  const at = await testbed({ level: 'account', vendors: 3, settings: { sync: { lag: `${lag}ms` } } });
  await at.pull();
  const service = at.sandbox.vendors(account);
  const begun = at.clock.monotonic();
  const sent: [method: string, at: number][] = [];
  at.sandbox.onRequest(({ method }) => sent.push([method, at.clock.monotonic() - begun]));
  const create = async (vendor_name = 'Acme'): Promise<WriteReport> => {
    const reports: WriteReport[] = [];
    const tell = (report: WriteReport): void => void reports.push(report);
    const { signal } = new AbortController();
    const options = { signal, again: false, by: null, tell };
    await createVendor(at.installation.account(account), { ...fields, vendor_name }, options);
    return reports[0]!;
  };
  const lose = (): void => at.sandbox.faults.next({ kind: 'reset_after', match: ({ method }) => method === 'POST' });
  const hide = (): void => at.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
  return { at, service, sent, create, lose, hide };
}

it('K21 P9 a creation whose answer is lost is searched for once no copy of the list can be older than it', async () => {
  const { sent, create, lose } = await opened();
  lose();
  await create();
  expect(sent.slice(0, 2)).toEqual([
    ['POST', 0],
    ['GET', lag],
  ]);
});

it('K21 P9 a creation that was left open is searched for after the lag too, and then not sent', async () => {
  const { service, sent, create, lose, hide } = await opened();
  lose();
  hide();
  await failureOf(create());
  await create();
  expect(sent.slice(0, 3)).toEqual([
    ['POST', 0],
    ['GET', lag],
    ['GET', 2 * lag],
  ]);
  expect(service.all()).toHaveLength(4);
});

it.each([
  ['Acme', ' Acme '],
  [' Acme ', 'Acme'],
  ['Ac\0me', 'Acme'],
])('K21 P9 a creation of %j that was left open is recognised in %j', async (first, next) => {
  const { service, create, lose, hide } = await opened();
  lose();
  hide();
  await failureOf(create(first));
  await create(next);
  expect(service.all()).toHaveLength(4);
});

it('K21 of several new vendors with the name, the one that matches the request is taken', async () => {
  const { at, service, create, lose } = await opened();
  service.create({ ...fields, language: 'de' });
  lose();
  const { vendorid, notTaken } = await create();
  expect([notTaken, service.all().find((vendor) => vendor['vendorid'] === vendorid)]).toMatchObject([[], fields]);
  expect(at.query('SELECT * FROM _creations')).toEqual([]);
});
