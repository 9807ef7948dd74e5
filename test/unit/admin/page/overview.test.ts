import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/domain/secret.ts';
import type { AccountFacts } from '../../../../src/health/judge.ts';
import { owedText } from '../../../../src/domain/amounts.ts';
import type { Figures } from '../../../../src/store/reports/figures.ts';
import { startAdmin } from '../../../support/admin/admin-requests.ts';
import { sampleFigures } from '../../../support/admin/sample-figures.ts';
import { able, account, before, facts, newAccount, run } from '../../../support/admin/sample.ts';

/** The page as HTML, and as the text that a person reads. */
async function shown(accounts: AccountFacts[], figures: Figures = sampleFigures) {
  const { ask } = await startAdmin({}, () => Promise.resolve(facts(accounts)), undefined, able, undefined, figures);
  const { body, headers } = await ask('/');
  return { body, text: textOf(body), ask, headers };
}

function textOf(body: string): string {
  return body
    .replace(/<(script|style|title)\b.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;])/g, '$1')
    .replaceAll('&#38;', '&');
}

const eur = sampleFigures.money[0]!;
const attack = `<img src=x onerror=alert(1)>"'\`&<script>alert(2)</script>`;

describe('the first page', () => {
  it('L14 names the fields that lists do not show as reads by id do', async () => {
    const learnedFields = [{ field: 'account_number', how: 'shown_otherwise' }] as const;
    const { text } = await shown([{ ...account(), learnedFields }]);
    expect(text).toContain('Fields shown otherwise in lists: account_number.');
  });

  it('L4 names the requests that the service does not honour, and what is done without them', async () => {
    const notHonoured = [{ request: 'gateways', since: '2026-11-20 11:00:00.000', message: 'no' }] as const;
    const { text } = await shown([{ ...account(), notHonoured }]);
    expect(text).toContain('The service does not honour gateways since 1 h ago, so gateways stay');
  });

  it('L91 shows whether the mirror is correct, as of when, what is in it, and what happened', async () => {
    const { text } = await shown([account()]);
    for (const words of [
      'Your mirror is correct as of 11:57:40 UTC, 2 min ago.',
      'Every change up to then is here.',
      'Vendors Active 1,602 Archived 31 Deleted 51 Gone 4',
      `EUR ${owedText(eur.outstanding, 'EUR')} ${owedText(eur.overdue, 'EUR')}`,
      'How well the webhooks work Alive last delivery 5 s ago',
      '19 of 2,385 changes in 14 days were missed (0.8%), and found by a sweep; 6 came late, by 3 min at most.',
      'verified bill_vendor to https://mirror.example.com/webhooks/6BApk/',
      '3 vendors wait to be read again, the first for 9 s.',
      'Most outstanding Müller & Söhne GmbH 18,200.50 EUR Papier Weiß 900.00 EUR',
      'Most overdue Papier Weiß 900.00 EUR',
      'Archived or deleted, and still owed Vendor 1600 archived 123.45 USD',
      'Papier Weiß 1 day ago, learned by a webhook, changed by user 55 account_number : DE-1 → DE-2',
      'Today (UTC): 6 vendors seen for the first time, 31 changes.',
      'Papier Weiß changed 30 min ago, learned by a webhook primary_contact_email : alt@weiss.example → neu@weiss.example',
      'Vendor 1700 first seen 1 h ago, learned by a reconciliation',
      'Müller & Söhne GmbH changed, and no delivery announced it',
      'Not counting 14 changes of balances in seven days, which no webhook announces.',
      '+49 221 1 → +49 221 2',
      'no value → Köln',
      'reconcile schedule complete 2 min ago 14 s 1,684 0 2 0',
      'The service answered 503 on page 8 of 17, five times.',
      'Next reconciliation in 11 min',
      'Database 17.6 MB',
    ])
      expect(text).toContain(words);
  });

  const none = { ...sampleFigures, money: [], owed: { rows: [], unknown: 0 } };

  it('L85 does not show what is unknown as nothing: never mirrored, a first pull, a disk that is full meanwhile, unreadable balances', async () => {
    const never = newAccount('6BApk');
    const notSwept = { ...account(), freshness: { ...account().freshness, last_complete_sweep: null } };
    const waiting = { ...notSwept, queue: { waiting: 47, parked: 0 } };
    for (const facts_ of [never, notSwept, waiting]) {
      const { text } = await shown([facts_], none);
      expect(text).toContain('What is owed to active vendors is not known.');
      expect(text).not.toContain('Nothing is owed');
    }
    expect((await shown([notSwept])).text).toContain('Owed to active vendors, so far');
    expect((await shown([account()])).text).not.toContain('so far');
    const unreadable = await shown([account()], { ...none, owed: { rows: [], unknown: 3 } });
    expect(unreadable.text).toContain('What is owed to active vendors is not known.');
    expect(unreadable.text).toContain(
      'Left out, because they could not be read: all or a part of the balances of 3 vendors.',
    );
    expect((await shown([account()], none)).text).toContain('Nothing is owed to active vendors.');
  });

  it.each([
    ['60 s ago', before(60_000), { seen: 4_200, total: 9_800 }, '4,200 of 9,800 vendors so far, about 1 min left.'],
    ['just now', before(500), { seen: 100, total: 9_800 }, '100 of 9,800 vendors so far.'],
    ['60 s ago, and counts nothing', before(60_000), { seen: 4_200, total: 0 }, '4,200 vendors so far.'],
    ['60 s ago, and counts too few', before(60_000), { seen: 120, total: 100 }, '120 vendors so far.'],
    ['60 s ago, and showed no page yet', before(60_000), undefined, '0 vendors so far.'],
  ])(
    'L91 a first day: a pull that began %s says how far it is, and what will stand there',
    async (_, since, far, words) => {
      const first = {
        ...newAccount('6BApk'),
        progress: far ? { page: 42, pages: 98, pass: 1, ...far } : null,
        runs: [run(1, { kind: 'pull', outcome: 'running', started_at: since, finished_at: null })],
      };
      const { text } = await shown([first], none);
      expect(text).toContain(words);
      expect(text.split(words)).toHaveLength(2);
      expect(text).not.toContain('Page 42');
      expect(text).toContain('What will stand here');
      expect(text).not.toContain('Most overdue');
      const later = { ...first, freshness: account().freshness };
      expect((await shown([later])).text).not.toContain('What will stand here');
    },
  );

  it('says that the largest amounts are those of each currency, where there are several', async () => {
    const { payables } = sampleFigures;
    const [euros] = payables.outstanding;
    const outstanding = [euros!, { ...euros!, currency: 'USD' }];
    const { text } = await shown([account()], { ...sampleFigures, payables: { ...payables, outstanding } });
    expect(text).toContain('Most outstanding, by currency Müller & Söhne GmbH 18,200.50 EUR');
    expect(text).toContain('Most overdue Papier Weiß');
  });

  it('lists the currencies of the largest amounts and of the charts in the order of what is owed', async () => {
    const { payables, money } = sampleFigures;
    const [usd, eur] = ['USD', 'EUR'].map((currency) => ({ ...payables.outstanding[0]!, currency }));
    const { body, text } = await shown([account()], {
      ...sampleFigures,
      money: money.map((one, index) => ({ ...one, vendors: index })),
      payables: { outstanding: [usd!, eur!], overdue: [usd!, eur!], inactive: [usd!, eur!] },
    });
    expect(text.match(/18,200\.50 \w+/g)?.map((amount) => amount.slice(-3))).toEqual([
      ...['EUR', 'USD', 'EUR', 'USD', 'EUR', 'USD'],
    ]);
    expect([...body.matchAll(/<h3><bdi>(\w+)<\/bdi><\/h3>/g)].map(([, code]) => code)).toEqual(['EUR', 'JPY', 'USD']);
  });

  it.each([
    [0, 31, 'Today (UTC): 31 changes.'],
    [6, 0, 'Today (UTC): 6 vendors seen for the first time.'],
    [0, 0, 'Nothing has changed today (UTC).'],
  ])('says of a day with %i new vendors and %i changes: “%s”', async (created, changed, words) => {
    const today = { ...sampleFigures.today, created, changed };
    expect((await shown([account()], { ...sampleFigures, today })).text).toContain(words);
  });

  it('says once that the service refuses access, and why', async () => {
    const failing = {
      ...{
        requests: 9,
        first_at: before(8 * 86_400_000),
        last_at: before(60_000),
        status: 401,
        code: 'unauthenticated',
      },
      ...{ message: 'The service answered 401: the access token has expired.', remedy: 'Run `vendor-mirror login`.' },
    } as const;
    const { text } = await shown([account({ failing })]);
    expect(text.match(/The service refuses access/g)).toHaveLength(1);
    expect(text).toContain('The service answered 401: the access token has expired. Run vendor-mirror login.');
  });

  it('L91 serves the clerk before actions, and those before how the mirror is kept', async () => {
    const { ask } = await startAdmin({ token: new Secret('canary-5e') });
    const { body } = await ask('/', { authorization: 'Bearer canary-5e' });
    const sections = [...body.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id);
    expect(sections).toEqual([
      ...['verdict', 'contents', 'payables', 'events', 'history', 'actions', 'webhooks', 'runs', 'gateways'],
    ]);
  });

  it('shows the fields that one edit changed together', async () => {
    const [edit] = sampleFigures.contacts;
    const change = { seq: 8, field: 'phone', old: null, new: '+49 30 1' };
    const { text } = await shown([account()], { ...sampleFigures, contacts: [edit!, { ...edit!, change }] });
    expect(text).toContain('changed by user 55 account_number : DE-1 → DE-2 phone : no value → +49 30 1');
  });

  it('names the field whose values could not be read', async () => {
    const lost = { at: before(60_000), kind: 'unreadable_value' as const, vendorid: null, vendor: null, changes: [] };
    const fields = '{"field":"tax_defaults","vendors":20}';
    const { text } = await shown([account()], { ...sampleFigures, found: [{ ...lost, fields }] });
    expect(text).toContain('The list has values that could not be read ( tax_defaults )');
  });

  it('L77 names what is owed to vendors that are not active', async () => {
    const amount = (value: number) => ({ value, minor: BigInt(value * 100) });
    const row = { currency: 'EUR', vendors: 1, unreadable: 0, outstanding: amount(30), overdue: amount(0) };
    const owed = {
      rows: [
        { ...row, state: 'archived' as const },
        { ...row, state: 'deleted' as const, outstanding: amount(2_140_000_000), overdue: amount(7) },
      ],
      unknown: 0,
    };
    expect((await shown([account()], { ...none, owed })).text).toContain(
      'Also owed: 30.00 EUR to archived vendors; 2,140,000,000.00 EUR (overdue 7.00) to deleted vendors',
    );
  });

  it('draws money over time and webhooks by hour and by day, with the same figures as tables', async () => {
    const { body } = await shown([account()]);
    const drawn = [...body.matchAll(/data-series="([^"]*)"/g)].map(
      ([, text = '']) => JSON.parse(text.replaceAll('&#34;', '"')) as { grain: string; at: number[] },
    );
    expect(drawn.map(({ grain, at }) => [grain, at.length])).toEqual([
      ['day', 366],
      ['day', 366],
      ['day', 366],
      ['hour', 49],
      ['day', 14],
    ]);
    expect(body.match(/role="img"\s+aria-label="[^"]+"/g)).toHaveLength(5);
    expect(body).toContain('<th scope="row">2026-11-15</th>');
  });

  it('draws no chart of two days without a delivery', async () => {
    const quiet = sampleFigures.hours.map((hour) => ({ ...hour, deliveries: 0, missed: 0, late: 0 }));
    const { text, body } = await shown([account()], { ...sampleFigures, hours: quiet });
    expect(text).toContain('By hour, two days No deliveries and no missed changes.');
    expect(body.match(/data-series=/g)).toHaveLength(4);
  });

  it('says that figures are being calculated before there are any, and draws nothing on the first day', async () => {
    const never = new Promise<Figures>(() => undefined);
    const { ask } = await startAdmin({}, undefined, undefined, able, undefined, never);
    expect(textOf((await ask('/')).body)).toContain('What is owed is being calculated.');
    const oneDay = sampleFigures.money.map((currency) => ({ ...currency, days: currency.days.slice(-1) }));
    const { text } = await shown([account()], { ...sampleFigures, money: oneDay });
    expect(text).toContain('Charts of these amounts over time begin tomorrow');
  });

  it('L80 names the other accounts in one order, whatever happens to them, and of many only the list of all', async () => {
    const trouble = account({ account: 'Kx93Lm', doubt: 'The machine slept for 6 h.' });
    const { ask } = await shown([account(), trouble, account({ account: 'a1' })]);
    const { body } = await ask('/?account=Kx93Lm');
    expect(textOf(body)).toContain('Account Kx93Lm Your mirror may be out of date. The machine slept for 6 h.');
    expect(body.match(/href="\.\/(\?account=\w+)?"/g)?.slice(0, 5)).toEqual([
      'href="./"',
      'href="./"',
      'href="./?account=6BApk"',
      'href="./?account=Kx93Lm"',
      'href="./?account=a1"',
    ]);
    const many = await shown(Array.from({ length: 53 }, (_, index) => account({ account: `a${index}` })));
    const one = (await many.ask('/?account=a7')).body;
    expect(one.match(/href="\.\/\?account=/g)).toHaveLength(1);
    expect(textOf(one)).toContain('All 53 accounts a7');
    const two = await shown([account(), account({ account: 'a1' })]);
    expect(textOf((await two.ask('/?account=a1')).body)).toContain('Both accounts 6BApk a1');
  });

  it('shows an account of which nothing is known yet', async () => {
    const { text } = await shown([newAccount('9aaZq')]);
    expect(text).toContain(
      'Nothing is mirrored completely yet. No sweep was complete yet. The first run is about to begin.',
    );
    expect(text).toContain('Off listener.publicUrl is not set, so only sweeps find changes By hour');
    expect(text).toContain('The mirror is vendors.db.');
    expect(text).toContain('None yet.');
    expect(text).toContain('What will stand here');
    expect(text).toContain('Vendors None is stored yet.');
    for (const unknown of [
      'What happened',
      'Nothing has changed',
      'No missed change',
      'The service names none',
      'Active 0',
    ])
      expect(text).not.toContain(unknown);
  });

  it('escapes all text from outside', async () => {
    const { body } = await shown(
      [
        account({
          account: attack,
          doubt: attack,
          runs: [run(1, { outcome: 'failed', error: attack })],
          callbacks: [{ ...account().callbacks[0]!, event: attack, uri: attack }],
        }),
      ],
      {
        ...sampleFigures,
        money: sampleFigures.money.map((money) => ({ ...money, code: attack })),
        found: [{ ...sampleFigures.found[0]!, vendor: attack, fields: JSON.stringify([attack]) }],
        gateways: [{ ...sampleFigures.gateways[0]!, name: attack }],
      },
    );
    expect(body).not.toContain('<img src=x');
    expect(body).not.toContain('alert(2)</script>');
    expect(body).toContain('&#60;img src=x onerror=alert(1)&#62;');
  });

  it('K52 uses no absolute path, so that it works behind a prefix', async () => {
    const { body, ask } = await shown([account()]);
    expect(body.match(/(?:href|src|action)="\//g)).toBeNull();
    expect((await ask('/page.js')).body).not.toMatch(/fetch\([`'"]\//);
  });

  it('has no inline script, style or handler: the policy would block them', async () => {
    const { body, headers } = await shown([account()]);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(body.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="./page.js">']);
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    expect(body).not.toMatch(/\s(src|href)="(?!\.\/|#)/);
  });

  it('serves its style, script and icon from the same place', async () => {
    const { ask } = await shown([account()]);
    for (const [path, type] of [
      ['/page.css', 'text/css; charset=utf-8'],
      ['/page.js', 'text/javascript; charset=utf-8'],
      ['/icon.svg', 'image/svg+xml'],
    ] as const)
      expect(await ask(path)).toMatchObject({ status: 200, headers: { 'content-type': type } });
  });

  it('is not sent again to a browser that has it, until something other than ages changes', async () => {
    const { ask, headers } = await shown([account()]);
    const known = { 'if-none-match': headers['etag'] as string };
    expect(await ask('/', known)).toMatchObject({ status: 304, body: '' });
    expect((await ask('/', { 'if-none-match': '"other"' })).status).toBe(200);
    const moved = account({ queue: { waiting: 4, parked: 0 } });
    const later = await startAdmin({}, () => Promise.resolve(facts([moved])));
    expect((await later.ask('/', known)).status).toBe(200);
  });
});
