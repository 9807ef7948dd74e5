/** Writes whose answer is lost, or is not what was asked for. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { Wire } from '../../../src/sandbox/core/vendor-record.ts';
import { ask } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

let sandbox: EmbeddedSandbox;
let line: Testbed<'command'>;
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
  sandbox = await testbed({ level: 'sandbox', vendors: 3 });
  line = await testbed({ level: 'command', service: sandbox, fetch: through });
  await line.run('sync', ...account);
  vendorid = Number(vendorService().listed()[0]?.['vendorid']);
  sent = [];
});

const vendorService = () => sandbox.sandbox.vendors('6BApk');
const truth = (): Wire | undefined =>
  vendorService()
    .all()
    .find((vendor) => vendor['vendorid'] === vendorid);
const edit = (...more: string[]) =>
  line.run('vendors', 'edit', String(vendorid), '--set', 'city=Boise', ...more, ...account);

const mirror = (sql: string): unknown[] => ask(line.database, sql);
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
  it.each(doubts)('%s leads to a read, which shows that it was carried out', async (_, answer) => {
    onAnswer = answer;
    const { status, stdout, stderr } = await edit('--json');
    expect(status).toBe(0);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out nevertheless. The service shows that it was.');
    expect(JSON.parse(stdout)).toMatchObject({ vendors: [{ record: { city: 'Boise' } }] });
    expect(truth()).toMatchObject({ city: 'Boise' });
    expect(marked()).toEqual(asked());
  });

  it.each(doubts)('%s, and that was not carried out, is sent again after a read', async (_, answer) => {
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
  it('K45 does not undo what a colleague changed since', async () => {
    onAnswer = () => {
      vendorService().restore(vendorid);
      return lost();
    };
    const { status, stderr } = await line.run('vendors', 'delete', String(vendorid), '--yes', ...account);
    expect(status).toBe(69);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out nevertheless.');
    expect(stderr).toContain(`the service shows vendor ${vendorid} without it (vis_state). Somebody may have changed`);
    expect(truth()).toMatchObject({ vis_state: 0 });
    expect(marked()).toEqual(asked());
  });

  it('K45 is not sent again if the vendor cannot be read, and the error says so', async () => {
    onAnswer = lost;
    sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
    const { status, stderr } = await edit();
    expect(status).toBe(69);
    expect(sent).toEqual(['PUT', 'GET']);
    expect(stderr).toContain('It may have been carried out nevertheless. It could not be read: ');
    expect(marked()).toEqual(asked());
  });

  it('K45 is not sent again if the vendor is not in the mirror', async () => {
    const empty = await testbed({ level: 'command', service: sandbox, fetch: through });
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
    const withoutReads = await testbed({ level: 'command', service: sandbox, fetch: failing });
    await withoutReads.run('sync', ...account);
    sent = [];
    const { status, stderr } = await withoutReads.run(
      'vendors',
      'edit',
      String(vendorid),
      '--set',
      'city=Boise',
      ...account,
    );
    expect([status, sent]).toEqual([69, ['PUT', 'GET', 'PUT', 'GET', 'PUT', 'GET']]);
    expect(stderr).toContain('It was sent 3 times');
  });

  it('K45 is checked by a sweep if vendors are not read by id', async () => {
    sandbox = await testbed({ level: 'sandbox', vendors: 3, world: { readOne: '404' } });
    line = await testbed({ level: 'command', service: sandbox, fetch: through });
    await line.run('sync', ...account);
    vendorid = Number(vendorService().listed()[0]?.['vendorid']);
    sent = [];
    onAnswer = lost;
    const { status } = await edit();
    expect(status).toBe(0);
    expect(sent.filter((method) => method === 'PUT')).toHaveLength(1);
    expect(sent.length).toBeGreaterThan(2);
    expect(mirror(`SELECT city FROM vendors WHERE vendorid = ${vendorid}`)).toEqual([{ city: 'Boise' }]);
  });

  it.each([
    ['a deleted vendor that no list shows', { visStateFilter: 'ignored' }, 'city=Boise', 'does not show vendor'],
    ['a note that no list shows', { listDeleted: 'shown', noteInList: 'no' }, 'note=Pay late', 'without note'],
  ] as const)('K45 P9 is not sent again if vendors are not read by id: %s', async (_, world, field, why) => {
    sandbox = await testbed({ level: 'sandbox', vendors: 3, world: { readOne: '405', ...world } });
    line = await testbed({ level: 'command', service: sandbox, fetch: through });
    await line.run('sync', ...account);
    vendorid = Number(vendorService().listed()[0]?.['vendorid']);
    expect((await line.run('vendors', 'delete', String(vendorid), '--yes', ...account)).status).toBe(0);
    const editOnce = ['vendors', 'edit', String(vendorid), '--set', field, ...account];
    sent = [];
    onAnswer = lost;
    const first = await line.run(...editOnce);
    expect([first.status, first.stderr]).toEqual([69, expect.stringContaining(why)]);
    expect((await line.run(...editOnce)).stderr).toContain('Nothing was sent.');
    expect(sent.filter((method) => method === 'PUT')).toHaveLength(1);
    expect((await line.run(...editOnce, '--again')).status).toBe(0);
  });

  it('K45 leaves a mark if it was interrupted under way', async () => {
    onAnswer = () => {
      line.interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
      return lost();
    };
    const { status, stderr } = await edit();
    expect([status, sent]).toEqual([1, ['PUT']]);
    expect(stderr).toContain('It may have been carried out nevertheless.');
    expect(marked()).toEqual(asked());
  });
});

describe('an answer that differs from the request', () => {
  it.each([
    [['delete', '--yes'], ['vis_state']],
    [['archive'], ['vis_state']],
    [
      ['edit', '--set', 'city=Boise', '--set', 'is_1099=true', '--set', 'phone=1'],
      ['city', 'is_1099', 'phone'],
    ],
    [['edit', '--set', 'tax_defaults=[{"system_taxid": 37701}]'], ['tax_defaults']],
    [['edit', '--set', 'tax_defaults=[]'], ['tax_defaults']],
  ])('K46 names the fields that were not changed, and exits with 1: %j', async ([command, ...options], fields) => {
    vendorService().edit(vendorid, {
      city: 'Rome',
      is_1099: false,
      phone: '2',
      tax_defaults: [{ system_taxid: 36859 }],
    });
    isSwallowed = true;
    const argv = ['vendors', command!, String(vendorid), ...options, ...account];
    const { status, stdout, stderr } = await line.run(...argv, '--json');
    expect([status, sent]).toEqual([1, ['PUT']]);
    const named = new Intl.ListFormat('en').format(fields);
    expect(stderr).toContain(`The service did not accept ${named}: it shows vendor ${vendorid} with other values.`);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'not_taken' },
      vendors: [{ source: 'write' }],
    });
  });

  it('K46 that contains only some fields leads to a read, and keeps what is stored', async () => {
    const name = truth()?.['vendor_name'];
    onAnswer = async (answer) => telling({ vendorid: (await told(answer))['vendorid'], city: 'Boise' });
    const { status, stdout, stderr } = await edit('--json');
    expect([status, sent]).toEqual([0, ['PUT', 'GET']]);
    expect(stderr).toMatch(/The service answered without some fields of the vendor \(vendor_name, /);
    expect(JSON.parse(stdout)).toMatchObject({ vendors: [{ record: { vendor_name: name, city: 'Boise' } }] });
    expect(marked()).toEqual(asked());
  });

  it('K46 that contains only some fields of a new vendor makes no row of nulls', async () => {
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

  it('K46 treats null, empty text and unset fields as equal, and stores no NUL', async () => {
    const edits = ['--set', 'note=', '--set', 'primary_contact=null', '--set', 'phone=', '--set', 'city=null'];
    const { status } = await line.run('vendors', 'edit', String(vendorid), ...edits, ...account);
    expect(status).toBe(0);
  });
});

describe('a creation', () => {
  const create = (...more: string[]) => {
    const fields = ['--set', 'vendor_name=Acme', '--set', 'language=en', '--set', 'currency_code=USD'];
    return line.run('vendors', 'create', ...fields, ...more, ...account);
  };
  const acmes = (): Wire[] =>
    vendorService()
      .all()
      .filter((vendor) => vendor['vendor_name'] === 'Acme');
  const open = (): unknown[] => mirror('SELECT vendor_name, known FROM _creations');
  const posts = (): number => sent.filter((method) => method === 'POST').length;
  const noReading = (times: number): void => {
    for (let left = times; left > 0; left -= 1)
      sandbox.sandbox.faults.next({ kind: '403', match: ({ method }) => method === 'GET' });
  };

  it('K21 is recorded on disk before it is sent, until its outcome is known', async () => {
    let before: unknown[] = [];
    onAnswer = (answer) => {
      before = open();
      return answer;
    };
    expect((await create()).status).toBe(0);
    expect([before, open()]).toEqual([[{ vendor_name: 'Acme', known: '[]' }], []]);

    expect((await create('--set', `note=${'x'.repeat(2_000)}`)).status).toBe(77);
    expect(open()).toEqual([]);
  });

  it.each(doubts.filter(([what]) => what !== 'about another vendor'))(
    'K21 P9 whose answer is %s is searched for, and found',
    async (_, answer) => {
      onAnswer = answer;
      const { status, stdout, stderr } = await create('--set', 'note=x', '--json');
      expect([status, posts()]).toEqual([0, 1]);
      expect(stderr).toContain('It may have been carried out nevertheless.');
      expect(JSON.parse(stdout)).toMatchObject({
        vendors: [{ record: { vendorid: acmes()[0]?.['vendorid'], vendor_name: 'Acme', note: 'x' } }],
      });
      expect([acmes().length, open()]).toEqual([1, []]);
    },
  );

  it('K21 P9 creates one vendor however often it is repeated while the list cannot be read', async () => {
    onAnswer = lost;
    noReading(3);
    const first = await create();
    expect(first.status).toBe(69);
    expect(first.stderr).toContain('If you run the same command again, the service is searched first');
    for (const { status, stderr } of [await create(), await create()]) {
      expect(status).toBe(77);
      expect(stderr).toContain('the service could not be searched for it: ');
      expect(stderr).toContain('Nothing was sent.');
    }
    expect(posts()).toBe(1);
    const last = await create();
    expect([last.status, posts(), acmes().length]).toEqual([0, 1, 1]);
    expect(last.stderr).toContain(`The service shows vendor ${String(acmes()[0]?.['vendorid'])} with that name`);

    // What was found is found: who says it once more means another.
    expect([(await create()).status, acmes().length]).toEqual([0, 2]);
  });

  it('K21 P9 of a process that died under way is searched for by the next one', async () => {
    const file = new Driver(line.database);
    file.exec(
      "INSERT INTO _creations (account_id, vendor_name, sent_at, known) VALUES ('6BApk', 'Acme', '2026-01-01 00:00:00.000', '[]')",
    );
    file.close();
    vendorService().create({ vendor_name: 'Acme', language: 'en', currency_code: 'USD' });
    expect([(await create()).status, posts(), acmes().length, open()]).toEqual([0, 0, 1, []]);
  });

  it('K21 that was not carried out is sent again after the search', async () => {
    isSwallowed = true;
    onAnswer = lost;
    const { status, stderr } = await create();
    expect([status, posts(), acmes().length, open().length]).toEqual([69, 1, 0, 1]);
    expect(stderr).toContain('The service does not show it yet.');
    expect([(await create()).status, posts(), acmes().length, open().length]).toEqual([0, 2, 1, 0]);
  });

  it('K21 --again overrides the search', async () => {
    onAnswer = lost;
    noReading(1);
    await create();
    sent = [];
    const { status } = await create('--again');
    expect([status, sent, acmes().length, open()]).toEqual([0, ['POST'], 2, []]);
  });

  it('K21 is not confused with a vendor that existed before', async () => {
    expect((await create()).status).toBe(0);
    isSwallowed = true;
    onAnswer = lost;
    const { status, stderr } = await create();
    expect([status, acmes().length]).toEqual([69, 1]);
    expect(stderr).toContain('The service does not show it yet.');
  });

  it('K21 is not confused with a vendor of another account', async () => {
    isSwallowed = true;
    onAnswer = lost;
    noReading(1);
    expect([(await create()).status, open().length]).toEqual([69, 1]);
    const others = sandbox.sandbox.vendors('other');
    others.create({ vendor_name: 'Acme', language: 'en', currency_code: 'USD' });
    await line.run('sync', '--account', 'other');
    expect([(await create()).status, posts(), acmes().length, open()]).toEqual([0, 2, 1, []]);
  });

  it('K21 P9 closes no creation of another account, and ignores its vendors', async () => {
    const others = sandbox.sandbox.vendors('other');
    others.create({ vendor_name: 'Acme', language: 'en', currency_code: 'USD' });
    await line.run('sync', '--account', 'other');
    onAnswer = lost;
    noReading(1);
    expect((await create()).status).toBe(69);
    const fields = ['--set', 'vendor_name=Acme', '--set', 'language=en', '--set', 'currency_code=USD'];
    const there = await line.run('vendors', 'create', ...fields, '--account', 'other');
    expect([there.status, others.all().filter((vendor) => vendor['vendor_name'] === 'Acme').length]).toEqual([0, 2]);
    expect([(await create()).status, acmes().length, open()]).toEqual([0, 1, []]);
  });

  it('K21 P9 that was interrupted under way is searched for by the next one', async () => {
    onAnswer = () => {
      line.interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
      return lost();
    };
    const { status, stderr } = await create();
    expect([status, sent, open().length]).toEqual([1, ['POST'], 1]);
    expect(stderr).toContain('It may have been carried out nevertheless. If you run the same command again');
  });

  it('K21 reports a vendor of the name that differs from the request, and creates no other by itself', async () => {
    isSwallowed = true;
    onAnswer = () => {
      vendorService().create({ vendor_name: 'Acme', language: 'de', currency_code: 'USD' });
      return lost();
    };
    for (const { status, stderr } of [await create(), await create()]) {
      expect([status, posts(), acmes().length, open().length]).toEqual([1, 1, 1, 1]);
      expect(stderr).toContain('The service did not accept language: ');
      expect(stderr).toContain('--again creates another.');
    }
    expect([(await create('--again')).status, acmes().length]).toEqual([0, 2]);
  });
});
