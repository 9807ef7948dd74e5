/** Creations whose answer is lost, in virtual time: when the list is searched, and which vendor is taken as the new one. */
import { describe, expect, it } from 'vitest';
import type { WriteReport } from '../../../../src/sync/write/answer.ts';
import { createVendor } from '../../../../src/sync/write/create.ts';
import { failureOf } from '../../../support/failure.ts';
import { account } from '../../../support/names.ts';
import { testbed } from '../../../support/testbed.ts';

const lag = 5_000;
const fields = { vendor_name: 'Acme', language: 'en', currency_code: 'USD' };

async function opened(world: readonly string[] = []) {
  const at = await testbed({ level: 'account', vendors: 3, world, settings: { sync: { lag: `${lag}ms` } } });
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

describe.each(['blanks', 'entities', 'accents', 'case', 'length', 'all'])(
  'L18 a service that tidies the %s of names',
  (tidies) => {
    const name = `  Müller   & Söhne's Großhandel AG `;

    it('a creation whose answer is lost is not sent again: what was found is told, and may be created by force only', async () => {
      const { at, service, sent, create, lose } = await opened([`tidies=${tidies}`]);
      lose();
      for (let times = 0; times < 3; times += 1) {
        const { vendorid, notTaken, notes } = await create(name);
        expect([notTaken, service.all().length]).toEqual([['vendor_name'], 4]);
        expect(notes.join()).toContain(`The service shows vendor ${vendorid}, "`);
        expect(notes.join()).toContain('--again creates another');
      }
      expect(sent.filter(([method]) => method === 'POST')).toHaveLength(1);
      expect(at.query('SELECT known FROM _creations')).toEqual([{ known: '[]' }]);
    });

    it('is found among other new vendors, and not taken for one that was there before', async () => {
      const { service, sent, create, lose } = await opened([`tidies=${tidies}`]);
      expect((await create(name)).vendorid).toBeGreaterThan(0);
      lose();
      service.create({ ...fields, vendor_name: 'Northwind' });
      const { vendorid } = await create(name);
      service.create({ ...fields, vendor_name: 'Fabrikam' });
      expect((await create(name)).vendorid).toBe(vendorid);
      expect([sent.filter(([method]) => method === 'POST').length, service.all().length]).toEqual([2, 7]);
    });
  },
);

it('L18 a creation that was not carried out is sent again although others were created meanwhile', async () => {
  const { at, service, sent, create } = await opened();
  at.sandbox.faults.next({ kind: 'reset', match: ({ method }) => method === 'POST' });
  const failure = await failureOf(create());
  expect(String(failure)).toContain('The service does not show it yet.');
  service.create({ ...fields, vendor_name: 'Northwind' });
  await create();
  expect(sent.filter(([method]) => method === 'POST')).toHaveLength(2);
  expect(service.all().filter((vendor) => vendor['vendor_name'] === 'Acme')).toHaveLength(1);
});
