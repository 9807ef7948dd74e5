/** Writes whose answer is lost, or is not what was asked for. */
import Driver from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/errors.ts';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import type { Wire } from '../../src/sandbox/vendor-record.ts';
import { pointedAt, service } from './at-service.ts';
import type { CommandLine } from './command-line.ts';

const account = ['--account', '6BApk'];

let sandbox: EmbeddedSandbox;
let line: CommandLine;
let vendorid: number;
/** Methods of the requests about vendors, since the last look at them. */
let sent: string[];

/** What becomes of the answer to the next write; the service has carried it out by then. */
let onAnswer: ((answer: Response) => Response | Promise<Response>) | undefined;
/** Whether the next write reaches the service. */
let isSwallowed = false;

const through: typeof globalThis.fetch = async (input, init = {}) => {
  const method = init.method ?? 'GET';
  sent.push(method);
  if (method === 'GET' || (!onAnswer && !isSwallowed)) return fetch(input, init);
  const { headers = {} } = init;
  const answer = await (isSwallowed ? fetch(input, { headers }) : fetch(input, init));
  const change = onAnswer;
  onAnswer = undefined;
  isSwallowed = false;
  return change ? change(answer) : answer;
};

beforeEach(async () => {
  onAnswer = undefined;
  isSwallowed = false;
  sent = [];
  sandbox = await service({ vendors: 3 });
  line = pointedAt(sandbox, { fetch: through });
  await line.run('sync', ...account);
  vendorid = Number(desk().listed()[0]?.['vendorid']);
  sent = [];
});

const desk = () => sandbox.sandbox.vendors('6BApk');
const truth = (): Wire | undefined =>
  desk()
    .all()
    .find((vendor) => vendor['vendorid'] === vendorid);
const edit = (...more: string[]) =>
  line.run('vendors', 'edit', String(vendorid), '--set', 'city=Boise', ...more, ...account);

function mirror(sql: string): unknown[] {
  const file = new Driver(line.database, { readonly: true });
  const found = file.prepare(sql).all();
  file.close();
  return found;
}
const marked = (): unknown[] => mirror('SELECT vendorid, reason FROM dirty_vendors');
const asked = (): unknown[] => [{ vendorid, reason: 'asked' }];

const lost = (): Response => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
};
const json = (body: unknown): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    headers: { 'content-type': 'application/json' },
  });
const told = async (answer: Response): Promise<Record<string, unknown>> => {
  const { response } = (await answer.json()) as { response: { result: { bill_vendor: Record<string, unknown> } } };
  return response.result.bill_vendor;
};
const telling = (vendor: object): Response => json({ response: { result: { bill_vendor: vendor } } });

const doubts: [string, (answer: Response) => Response | Promise<Response>][] = [
  ['lost', lost],
  ['empty', () => json('')],
  ['cut off', async (answer) => json((await answer.text()).slice(0, 40))],
  ['too large', () => json(`"${'x'.repeat(9 * 1_048_576)}"`)],
  ['about another vendor', async (answer) => telling({ ...(await told(answer)), vendorid: vendorid + 1 })],
  ['a fault', () => new Response('', { status: 502 })],
];

describe('K45 an edit whose answer is', () => {
  it.each(doubts)('%s is looked at, and found done', async (_, answer) => {
    onAnswer = answer;
    const { status, stdout, stderr } = await edit('--json');
    expect(status).toBe(0);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out all the same. The service shows that it was.');
    expect(JSON.parse(stdout)).toMatchObject({ vendors: [{ record: { city: 'Boise' } }] });
    expect(truth()).toMatchObject({ city: 'Boise' });
    expect(marked()).toEqual(asked());
  });

  it.each(doubts)('%s, and that was not carried out, is sent again after the look', async (_, answer) => {
    isSwallowed = true;
    onAnswer = answer;
    const { status } = await edit();
    expect(status).toBe(0);
    expect(sent).toEqual(['PUT', 'GET', 'PUT']);
    expect(truth()).toMatchObject({ city: 'Boise' });
    expect(marked()).toEqual(asked());
  });
});

describe('an edit whose answer is lost', () => {
  it('K45 does not undo what a colleague did since', async () => {
    onAnswer = () => {
      desk().restore(vendorid);
      return lost();
    };
    const { status, stderr } = await line.run('vendors', 'delete', String(vendorid), '--yes', ...account);
    expect(status).toBe(69);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out all the same.');
    expect(stderr).toContain(`the service shows vendor ${vendorid} without it (vis_state). Somebody may have changed`);
    expect(truth()).toMatchObject({ vis_state: 0 });
    expect(marked()).toEqual(asked());
  });

  it('K45 is not sent again where nobody can look, and says so', async () => {
    onAnswer = lost;
    sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
    const { status, stderr } = await edit();
    expect(status).toBe(69);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out all the same. It could not be looked at: ');
    expect(marked()).toEqual(asked());
  });

  it('K45 is not sent again of a vendor that the mirror does not hold', async () => {
    const empty = pointedAt(sandbox, { fetch: through });
    isSwallowed = true;
    onAnswer = lost;
    const { status } = await empty.run('vendors', 'edit', String(vendorid), '--set', 'city=Boise', ...account);
    expect([status, sent]).toEqual([69, ['PUT', 'GET']]);
  });

  it('K45 is sent three times at most', async () => {
    const failing: typeof through = (input, init) => {
      if (init?.method === 'PUT') [onAnswer, isSwallowed] = [lost, true];
      return through(input, init);
    };
    const deaf = pointedAt(sandbox, { fetch: failing });
    await deaf.run('sync', ...account);
    sent = [];
    const { status, stderr } = await deaf.run('vendors', 'edit', String(vendorid), '--set', 'city=Boise', ...account);
    expect([status, sent]).toEqual([69, ['PUT', 'GET', 'PUT', 'GET', 'PUT', 'GET']]);
    expect(stderr).toContain('It was sent 3 times');
  });

  it('K45 is looked for by a sweep where vendors are not read by id', async () => {
    sandbox = await service({ vendors: 3 }, { readOne: '404' });
    line = pointedAt(sandbox, { fetch: through });
    await line.run('sync', ...account);
    vendorid = Number(desk().listed()[0]?.['vendorid']);
    sent = [];
    onAnswer = lost;
    const { status } = await edit();
    expect(status).toBe(0);
    expect(sent.filter((method) => method === 'PUT')).toHaveLength(1);
    expect(sent.length).toBeGreaterThan(2);
    expect(mirror(`SELECT city FROM vendors WHERE vendorid = ${vendorid}`)).toEqual([{ city: 'Boise' }]);
  });

  it('K45 is marked where it was interrupted under way', async () => {
    onAnswer = () => {
      line.interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
      return lost();
    };
    const { status, stderr } = await edit();
    expect([status, sent]).toEqual([1, ['PUT']]);
    expect(stderr).toContain('It may have been carried out all the same.');
    expect(marked()).toEqual(asked());
  });
});

describe('an answer that is not what was asked for', () => {
  it.each([
    [['delete', '--yes'], ['vis_state']],
    [['archive'], ['vis_state']],
    [
      ['edit', '--set', 'city=Boise', '--set', 'is_1099=true', '--set', 'phone=1'],
      ['city', 'is_1099', 'phone'],
    ],
    [['edit', '--set', 'tax_defaults=[{"system_taxid": 37701}]'], ['tax_defaults']],
  ])('K46 fields that did not take are named, and the exit is 1: %j', async ([command, ...options], fields) => {
    desk().edit(vendorid, { city: 'Rome', is_1099: false, phone: '2', tax_defaults: [] });
    isSwallowed = true;
    const argv = ['vendors', command!, String(vendorid), ...options, ...account];
    const { status, stdout, stderr } = await line.run(...argv, '--json');
    expect([status, sent]).toEqual([1, ['PUT']]);
    const named = new Intl.ListFormat('en').format(fields);
    expect(stderr).toContain(
      `The service did not take ${named}: it shows vendor ${vendorid} with something else there.`,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'not_taken' },
      vendors: [{ source: 'write' }],
    });
  });

  it('K46 one that tells a part only has the vendor read, and keeps what is held', async () => {
    const name = truth()?.['vendor_name'];
    onAnswer = async (answer) => telling({ vendorid: (await told(answer))['vendorid'], city: 'Boise' });
    const { status, stdout, stderr } = await edit('--json');
    expect([status, sent]).toEqual([0, ['PUT', 'GET']]);
    expect(stderr).toMatch(/The service answered without \d+ fields of the vendor \(vendor_name, /);
    expect(JSON.parse(stdout)).toMatchObject({ vendors: [{ record: { vendor_name: name, city: 'Boise' } }] });
    expect(marked()).toEqual(asked());
  });

  it('K46 a part of a new vendor makes no row of nulls', async () => {
    onAnswer = async (answer) => telling({ vendorid: (vendorid = Number((await told(answer))['vendorid'])) });
    sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
    const fields = ['--set', 'vendor_name=Acme', '--set', 'language=en', '--set', 'currency_code=USD'];
    const { status, stderr } = await line.run('vendors', 'create', ...fields, ...account);
    expect(status).toBe(1);
    expect(stderr).toContain('It could not be read at once: The service denied access');
    expect(mirror(`SELECT * FROM vendors WHERE vendorid = ${vendorid}`)).toEqual([]);
    expect(marked()).toEqual(asked());

    await line.run('sync', ...account);
    expect(mirror(`SELECT vendor_name, currency_code FROM vendors WHERE vendorid = ${vendorid}`)).toEqual([
      { vendor_name: 'Acme', currency_code: 'USD' },
    ]);
  });

  it('K46 null, empty text and what was never set are the same, and NUL is kept in no text', async () => {
    const edits = ['--set', 'note=', '--set', 'primary_contact=null', '--set', 'phone=', '--set', 'city=null'];
    const { status } = await line.run('vendors', 'edit', String(vendorid), ...edits, ...account);
    expect(status).toBe(0);
  });
});
