import { describe, expect, it } from 'vitest';
import type { AccountFacts } from '../../../../src/admin/health/health.ts';
import { startAdmin } from '../../../support/admin/admin-requests.ts';
import { account, facts, newAccount, run } from '../../../support/admin/sample.ts';

/** The page as HTML, and as the text that a person reads. */
async function shown(...accounts: AccountFacts[]) {
  const { ask } = await startAdmin({}, () => Promise.resolve(facts(accounts)));
  const { body } = await ask('/');
  const text = body
    .replace(/<(script|style|title|svg)\b.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  return { body, text, ask };
}

const attack = `<img src=x onerror=alert(1)>"'\`&<script>alert(2)</script>`;

describe('the dashboard', () => {
  it('says how fresh an account is, what it holds and what went on', async () => {
    const { text } = await shown(account());
    for (const words of [
      'The mirror is fresh',
      'Safe as of 2 min ago',
      'Every change up to 2026-11-20 11:57:40 UTC is here.',
      'Active 1,602 Archived 31 Deleted 51 Gone 4 In the queue 3 Oldest of them 9 s ago',
      'verified bill_vendor to https://mirror.example.com/webhooks/6BApk/',
      'Last delivery 5 s ago',
      '14 moved only in balance, which no delivery announces',
      'reconcile schedule complete 2 min ago 14 s 1,684 0 2 0',
      'The service answered 503 on page 8 of 17, five times.',
      'Next reconciliation in 11 min',
      'Running for 12 days',
      'Database 18.4 MB',
    ])
      expect(text).toContain(words);
  });

  it('draws the loss of fourteen days and sums it up', async () => {
    const { body, text } = await shown(account());
    expect(body.match(/<rect/g)).toHaveLength(14);
    expect(body.match(/class="lost"/g)).toHaveLength(6);
    expect(body).toContain('Nov 15: 186 deliveries, 6 changes unannounced (4.6%), 1 late');
    expect(text).toMatch(/19 of 2,385 changes came without a delivery: 0\.8% lost\./);
  });

  it('draws nothing where nothing was heard, and a whole loss within its frame', async () => {
    expect((await shown(newAccount('9aaZq'))).body).not.toContain('<svg');
    const [today] = account().days.slice(-1);
    const { body } = await shown(
      account({ days: [{ ...today!, loss_rate: 1, deliveries: 0, unannounced_changes: 7 }] }),
    );
    expect(body).toMatch(/<rect[^>]*\sy="12"[^>]*\sheight="82"/);
  });

  it('says what stands in the way, and puts accounts in trouble first', async () => {
    const trouble = account({
      account: 'Kx93Lm',
      doubt: 'The machine slept for 6 h.',
      watchdog: 'silent',
      queue: { waiting: 0, parked: 2 },
      findings: [{ kind: 'breaker', count: 1 }],
    });
    const { body, text } = await shown(account(), trouble);
    expect(body.indexOf('id="account-Kx93Lm"')).toBeLessThan(body.indexOf('id="account-6BApk"'));
    expect(text).toContain('1 of 2 accounts are not fresh');
    for (const words of ['The machine slept for 6 h.', 'no delivery comes', '2 marked vendors', '--approve-absences N'])
      expect(text).toContain(words);
  });

  it('shows an account of which nothing is known yet', async () => {
    const { text } = await shown(newAccount('9aaZq'));
    expect(text).toContain('Not mirrored completely yet');
    expect(text).toContain('No deliveries are asked for');
    expect(text).toContain('Last delivery never');
    expect(text).toContain('None yet.');
  });

  it('shows fifty of many accounts, and where the others are', async () => {
    const { body, text } = await shown(...Array.from({ length: 53 }, (_, index) => account({ account: `a${index}` })));
    expect(body.match(/<article/g)).toHaveLength(50);
    expect(text).toContain('And 3 more accounts');
  });

  it('escapes everything that came from elsewhere', async () => {
    const { body } = await shown(
      account({
        account: attack,
        doubt: attack,
        runs: [run(1, { outcome: 'failed', error: attack })],
        callbacks: [{ ...account().callbacks[0]!, event: attack, uri: attack }],
      }),
    );
    expect(body).not.toContain('<img src=x');
    expect(body).not.toContain('alert(2)</script>');
    expect(body).toContain('&#60;img src=x onerror=alert(1)&#62;');
  });

  it('K52 leads to nothing by an absolute path, so that it may stand behind a prefix', async () => {
    const { body, ask } = await shown(account());
    expect(body.match(/(?:href|src|action)="\//g)).toBeNull();
    expect((await ask('/dashboard.js')).body).not.toMatch(/fetch\('\//);
  });

  it('carries no script, style or handler of its own: the policy would not run them', async () => {
    const { body } = await shown(account());
    expect(body.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="./dashboard.js">']);
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    expect(body).not.toMatch(/(src|href)="(?!\.\/)/);
  });

  it('serves its style, its script and its icon from the same place', async () => {
    const { ask } = await shown(account());
    for (const [path, type] of [
      ['/dashboard.css', 'text/css; charset=utf-8'],
      ['/dashboard.js', 'text/javascript; charset=utf-8'],
      ['/icon.svg', 'image/svg+xml'],
    ] as const)
      expect(await ask(path)).toMatchObject({ status: 200, headers: { 'content-type': type } });
  });
});
