/** The operator's pages as a browser shows them: at two widths, by day and by night, by keyboard alone, and while the daemon dies. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import {
  broken,
  cutDates,
  launchChromium,
  look,
  missingChromium,
  picture,
  print,
  scrollsSideways,
  unreached,
  type Look,
  type Looked,
} from '../support/screen/chromium.ts';
import { startAdmin } from '../support/admin/admin-requests.ts';
import { fillMirror, showMirror } from '../support/admin/filled-mirror.ts';
import { account, before, facts, target } from '../support/admin/sample.ts';
import { isMissing } from '../support/needed.ts';

let browser: Browser | undefined;
beforeAll(async () => {
  if (!missingChromium) browser = await launchChromium();
});
afterAll(() => browser?.close());

function opened(url: string, options: Look = {}): Promise<Looked> {
  if (!browser) throw new Error('Chromium was not started.');
  return look(browser, url, options);
}

describe.skipIf(isMissing(missingChromium))('the first page in Chromium', () => {
  it.each([0, 250, 100_000])(
    'L91 with %i vendors fits four widths and paper, in light and dark mode, without an error, a request elsewhere or a serious finding of axe, and is reached by keyboard alone',
    async (vendors) => {
      const { url, faults } = await showMirror(await fillMirror(vendors));
      const { page, troubles } = await opened(url, { width: 360 });
      await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
      await page
        .locator('#contents')
        .getByText(vendors === 0 ? 'Nothing is owed' : 'Owed to active vendors')
        .waitFor();
      if (vendors > 0) await page.locator('#history canvas').nth(2).waitFor();
      for (const width of [360, 768, 1280, 1920])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          expect([width, colorScheme, await scrollsSideways(page)]).toEqual([width, colorScheme, false]);
          await picture(page, `overview-${vendors}-${width}-${colorScheme}`);
          if (width < 1000) expect([width, colorScheme, await broken(page)]).toEqual([width, colorScheme, []]);
        }
      expect(await unreached(page)).toEqual([]);
      await page.setViewportSize({ width: 794, height: 1123 });
      await page.emulateMedia({ media: 'print', colorScheme: 'light' });
      expect(await scrollsSideways(page)).toBe(false);
      await print(page, `overview-${vendors}-print`);
      expect([troubles, faults]).toEqual([[], []]);
    },
  );

  it.each([360, 1280])(
    'L91 answers ten questions of a clerk at a width of %i: is it right and since when, what is owed in euros, to whom most, what is overdue most, whose account number changed and by whom, is a webhook dead, what happened to a vendor yesterday, which of 300 accounts is in trouble, when is the next sweep, where is the file',
    async (width) => {
      const path = await fillMirror(300);
      const { url, change } = await showMirror(path);
      await change(
        `UPDATE _vendor_versions SET valid_from = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 day') WHERE vendorid = 1 AND changed_fields = '["city"]';
       INSERT INTO deliveries (account_id, received_at, name, object_id, user_id, outcome, settled_at)
         VALUES ('6BApk', strftime('%Y-%m-%d %H:%M:%f', 'now'), 'bill_vendor.update', 2, 55, 'applied', strftime('%Y-%m-%d %H:%M:%f', 'now'));
       UPDATE _vendor_versions SET raw = '{"account_number":"DE-1"}' WHERE vendorid = 2;
       INSERT INTO _vendor_versions (account_id, vendorid, valid_from, vis_state, vis_state_source, presence, changed_fields, source, raw, delivery_id)
         VALUES ('6BApk', 2, strftime('%Y-%m-%d %H:%M:%f', 'now'), 0, 'reported', 'present', '["account_number"]', 'delivery', '{"account_number":"DE-2"}',
           (SELECT max(id) FROM deliveries))`,
      );
      const { page, troubles } = await opened(url, { width });
      const verdict = page.locator('#verdict');
      await verdict.getByText('Your mirror is correct').waitFor();
      expect(await verdict.innerText()).toMatch(/correct as of \d\d:\d\d:\d\d UTC, (just now|\d+ (s|min) ago)\.\s/);
      expect(await verdict.innerText()).toMatch(/Next reconciliation in (9|10) min\./);
      expect(await verdict.innerText()).toContain(`The mirror is ${path}.`);
      const euros = page.getByRole('row', { name: /^EUR/ });
      // Vendor n is owed n, of which n % 90 is overdue; every third in euros, but 117 and 267, which are archived.
      expect((await euros.first().innerText()).split(/\s+/)).toEqual(['EUR', '14,766.00', '3,966.00']);
      const payables = page.locator('#payables');
      const largest = async (title: string): Promise<string[]> =>
        (await payables.getByRole('group', { name: title }).innerText())
          .split('\n')
          .map((line) => line.replace(/\s+/g, ' '));
      expect((await largest('Most outstanding'))[0]).toBe('Vendor 300 300.00 EUR');
      expect((await largest('Most overdue'))[0]).toBe('Vendor 87 87.00 EUR');
      expect(await payables.getByRole('list', { name: /^Names, account numbers/ }).innerText()).toMatch(
        /<script>.*, learned by a webhook, changed by user 55\s+account_number: DE-1 → DE-2/,
      );
      const webhooks = page.locator('#webhooks');
      expect(await webhooks.locator('.state').innerText()).toMatch(/Alive last delivery (just now|.+ ago)$/);
      await page.locator('#search').fill('Müller');
      await page.locator('#results').getByText('Müller & Söhne GmbH').click();
      const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      await page.locator('.timeline li').first().waitFor();
      expect(await page.locator('.timeline li').first().innerText()).toMatch(
        new RegExp(`Changed.*, ${yesterday} [\\d:]+ UTC.*\\s+city: Graz → Wien`),
      );
      await page.goBack();
      await change('UPDATE callbacks SET verified = 0');
      await webhooks.getByText('no callback is verified').waitFor();
      await verdict.getByText('Our callback 2001 is not verified', { exact: false }).waitFor();
      await picture(page, `questions-${width}`);
      expect(troubles).toEqual([]);

      const many = Array.from({ length: 300 }, (_, index) =>
        account({ account: `ac${index}`, ...(index === 217 ? { doubt: 'The machine slept for 6 h.' } : {}) }),
      );
      const all = await startAdmin({}, () => Promise.resolve(facts(many)));
      const { page: overview } = await opened(`${all.url}/`, { width });
      expect(await overview.locator('#verdict').innerText()).toContain('Of 300 accounts, 1 is not correct.');
      expect(await overview.locator('#verdict').innerText()).toContain('ac217: The machine slept for 6 h.');
      await overview.getByPlaceholder('Account by id').fill('slept');
      await overview.getByRole('link', { name: 'ac217' }).click();
      await overview.getByRole('heading', { name: /^Your mirror may be out of date/ }).waitFor();
      expect(overview.url()).toContain('?account=ac217');
    },
  );

  it('L80 L81 names the account in each answer where two have vendors of the same names: what is owed and overdue, to whom most, what is found, what changed and by whom, whose webhook is dead', async () => {
    const { url, change } = await showMirror(await fillMirror(300, 120), {}, [], 2);
    await change(
      `INSERT INTO deliveries (account_id, received_at, name, object_id, user_id, outcome, settled_at)
         VALUES ('other', strftime('%Y-%m-%d %H:%M:%f', 'now'), 'bill_vendor.update', 2, 77, 'applied', strftime('%Y-%m-%d %H:%M:%f', 'now'));
       INSERT INTO _vendor_versions (account_id, vendorid, valid_from, vis_state, vis_state_source, presence, changed_fields, source, raw, delivery_id)
         VALUES ('other', 2, strftime('%Y-%m-%d %H:%M:%f', 'now'), 0, 'reported', 'present', '["account_number"]', 'delivery', '{"account_number":"DE-2"}',
           (SELECT max(id) FROM deliveries))`,
    );
    const { page, troubles } = await opened(url);
    const [verdict, accounts] = [page.locator('#verdict'), page.locator('#account-list')];
    await verdict.getByText('Both accounts are correct.').waitFor();
    const sums = async (account: string): Promise<string> =>
      (await accounts.locator(`#account-${account}`).innerText()).replace(/\s+/g, ' ');
    await page.locator('#contents').getByRole('row', { name: /^EUR/ }).waitFor();
    expect([await sums('6BApk'), await sums('other')]).toEqual([
      expect.stringMatching(/^6BApk .*14,766\.00 EUR/),
      expect.stringMatching(/^other .*2,343\.00 EUR/),
    ]);
    await page.getByRole('link', { name: 'Browse the vendors of all accounts' }).click();
    const rows = page.locator('#vendor-list tbody tr');
    const row = async (index: number): Promise<string> => (await rows.nth(index).innerText()).replace(/\s+/g, ' ');
    expect(await row(0)).toMatch(/^Vendor 300 300 300\.00 EUR .* active 6BApk$/);
    await page.getByRole('link', { name: 'Overdue' }).click();
    await page.waitForURL(/sort=overdue/);
    expect([await row(0), await row(3)]).toEqual([
      expect.stringMatching(/^Vendor 89 89 89\.00 GBP .* 6BApk$/),
      expect.stringMatching(/^Vendor 89 89 89\.00 GBP .* other$/),
    ]);
    await page.locator('#search').fill('Müller');
    await page.locator('#results a').nth(1).waitFor();
    const hits = await page.locator('#results a').allInnerTexts();
    expect(hits).toEqual([expect.stringContaining('Account 6BApk · 1'), expect.stringContaining('Account other · 1')]);
    await picture(page, 'two-accounts-search');
    await page.locator('#results a').nth(1).click();
    await page.getByText('Vendor 1 of account other').waitFor();
    await change(`UPDATE callbacks SET verified = 0 WHERE account_id = 'other'`);
    await page.locator('.home').click();
    await verdict.getByText(/other: Our callback \d+ is not verified, so nothing is delivered/).waitFor();
    await accounts.getByRole('link', { name: 'other' }).click();
    await page.locator('#webhooks').getByText('no callback is verified').waitFor();
    expect(await verdict.innerText()).toContain('Account other');
    expect(await page.locator('#payables .changes').innerText()).toContain('changed by user 77');
    await page.goBack();
    await verdict.getByText('Both accounts are correct').waitFor();
    await picture(page, 'two-accounts');
    expect(troubles).toEqual([]);
  });

  it('shows a change without a reload, and keeps focus, selection, scroll position and opened details', async () => {
    const { url, change } = await showMirror(await fillMirror(10));
    const { page, troubles } = await opened(url);
    // What is folded has some, too, and comes before the figures do.
    await page.getByText('In numbers').filter({ visible: true }).first().click();
    await page.locator('#search').focus();
    await page.keyboard.type('mü');
    await page.evaluate('scrollTo(0, 120)');
    await change('UPDATE vendors SET vis_state = 2 WHERE vendorid <= 4');
    await page.locator('.tile', { hasText: 'Archived' }).getByText('4').waitFor();
    const kept = await page.evaluate(`({
      focus: document.activeElement.id,
      typed: document.activeElement.value,
      scroll: scrollY,
      opened: document.querySelectorAll('details[open]').length,
    })`);
    expect(kept).toEqual({ focus: 'search', typed: 'mü', scroll: 120, opened: 1 });
    await page.locator('#contents-title').selectText();
    await change('UPDATE vendors SET vis_state = 2 WHERE vendorid <= 5');
    await page.locator('.tile', { hasText: 'Archived' }).getByText('5').waitFor();
    expect(await page.evaluate('String(getSelection())')).toBe('What is owed');
    expect(troubles).toEqual([]);
  });

  it('holds still while it is paused, and then goes on', async () => {
    const { url, change } = await showMirror(await fillMirror(10));
    const { page, troubles } = await opened(url);
    await page.clock.install();
    await page.reload();
    const archived = page.locator('.tile', { hasText: 'Archived' });
    await archived.getByText('0').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await change('UPDATE vendors SET vis_state = 2 WHERE vendorid <= 4');
    const requests: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    await page.clock.runFor(10_000);
    expect([requests, await archived.innerText()]).toEqual([[], expect.stringContaining('0')]);
    await page.getByRole('button', { name: 'Paused: go on' }).click();
    await archived.getByText('4').waitFor();
    expect(troubles).toEqual([]);
  });

  it('is printed with a date, without controls, and with its lists and tables whole', async () => {
    const { url } = await showMirror(await fillMirror(300));
    const { page } = await opened(url, { scheme: 'dark' });
    await page.getByText('Owed to active vendors', { exact: true }).waitFor();
    await page.locator('#events .changes li').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#printed').innerText()).toMatch(
      /, printed \d{4}-\d\d-\d\d [\d:]+ UTC, as of [\d: -]+ UTC$/,
    );
    expect(await page.locator('button:visible, input:visible, .plot:visible').count()).toBe(0);
    // By hour for two days, in a section and in details that are folded.
    expect(await page.locator('#webhooks .chart').first().locator('tbody tr:visible').count()).toBe(49);
    // Ink on white, whatever the screen shows.
    expect(await page.evaluate(`getComputedStyle(document.body).color`)).toBe('rgb(20, 32, 43)');
    const cut = `[...document.querySelectorAll('.changes, .scroll')]
      .filter((list) => list.scrollHeight > list.clientHeight + 1).map((list) => list.className)`;
    expect(await page.evaluate(cut)).toEqual([]);
    // On a sheet there is room for each column.
    expect(await page.locator('#runs thead th:visible').count()).toBe(8);
    expect(await print(page, 'printed')).toBeLessThan(9);
  });

  it('is printed as of the last answer, though nothing changed since the page was sent', async () => {
    const { url } = await startAdmin({}, () => Promise.resolve(facts()));
    const { page } = await opened(url);
    const printed = page.locator('#printed');
    await printed
      .getByText(/printed 2026-11-20 12:00:\d\d UTC, as of 12:00:(0[1-9]|[1-5]\d) UTC/)
      .waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Pause' }).click();
    const asOf = (await printed.innerText()).replace(/.*(?=as of)/s, '').trim();
    await printed.filter({ hasNotText: /12:00:0[0-3] UTC, as of/ }).waitFor({ state: 'attached' });
    expect(await printed.innerText()).toContain(asOf);
  });

  it('requests an action only after a confirmation, and shows its outcome; without a token it says why there are no actions', async () => {
    const path = await fillMirror(10);
    const { url, asked, change } = await showMirror(path, { token: new Secret('canary-3b') });
    await change(
      `INSERT INTO findings (run_id, account_id, kind, fields, found_at) VALUES (400, '6BApk', 'breaker', '{}', '2026-11-20 11:00:00.000')`,
    );
    const { page, troubles } = await opened(url, { token: 'canary-3b' });
    await page.getByRole('button', { name: 'Reconcile now' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Nothing is written to the service').waitFor();
    await picture(page, 'confirm');
    expect(await broken(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect([asked, await page.evaluate('document.activeElement.id')]).toEqual([[], 'ask-reconcile']);
    await page.getByRole('button', { name: 'Approve absences' }).click();
    await dialog.getByLabel('Vendors that may be gone').fill('7');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('status').getByText('may mark up to 7 vendors gone').waitFor();
    expect(asked).toEqual([['6BApk', 'reconcile', 7]]);
    expect(troubles).toEqual([]);

    const { page: bare } = await opened((await showMirror(path)).url);
    await bare.getByText('Actions need a token').waitFor();
    expect(await bare.locator('#actions button').count()).toBe(0);
  });

  it('shows the receivers of outgoing webhooks, and names in its headline one that needs attention, at two widths', async () => {
    const path = await fillMirror(10);
    const began = new Date(Date.now() - 3_600_000).toISOString().replace('T', ' ').slice(0, 23);
    const { url, change } = await showMirror(path, {}, ['ledger.example', 'crm.example']);
    await change(`
      INSERT INTO _notify_targets (target, place, began_at, delivered_at) VALUES
        ('ledger.example', '', '${began}', '${began}'), ('crm.example', '', '${began}', NULL)`);
    for (const width of [360, 1280]) {
      const { page, troubles } = await opened(url, { width });
      const targets = page.locator('#targets');
      await targets.locator('summary').click();
      await targets.getByText('ledger.example', { exact: true }).waitFor();
      expect(await page.locator('#verdict').innerText()).toContain('Your mirror is correct');
      await change(`
        UPDATE _notify_targets SET failing_since = '${began}', last_error = 'crm.example answered 503.' WHERE target = 'crm.example';
        INSERT INTO _notify_queue (target, account_id, vendorid, after_seq, since, attempts, last_error)
          VALUES ('ledger.example', '6BApk', 1, 0, '${began}', 12, 'ledger.example answered 422.')`);
      await page.getByRole('heading', { name: 'Something needs your attention, but your mirror is correct' }).waitFor();
      const verdict = await page.locator('#verdict').innerText();
      expect(verdict).toContain('crm.example answered 503. Check the receiver');
      expect(verdict).toContain(
        'ledger.example: the changes of one vendor were given up: ledger.example answered 422.',
      );
      await targets.getByText('failing', { exact: true }).waitFor();
      await picture(page, `targets-${width}`);
      expect([await scrollsSideways(page), await broken(page), troubles]).toEqual([false, [], []]);
      await change(`DELETE FROM _notify_queue; UPDATE _notify_targets SET failing_since = NULL, last_error = NULL`);
      await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
    }
  });

  it('shows moments in UTC with the local time beside them, with the date where that differs', async () => {
    const failing = target({ failing_since: before(26 * 3_600_000), last_error: 'hooks.example answered 503.' });
    const { url } = await startAdmin({}, () => Promise.resolve({ ...facts(), targets: [failing] }));
    const { page } = await opened(url, { zone: 'Europe/Vienna' });
    const verdict = page.locator('#verdict');
    await verdict.getByText('11:57:40 UTC (12:57:40 local)').waitFor();
    await verdict.getByText('accepted nothing since 2026-11-19 10:00:00 UTC (11:00:00 local)').waitFor();
    expect(await verdict.locator('time[data-time="ago"]').first().getAttribute('title')).toBe(
      '11:57:40 UTC (12:57:40 local)',
    );
    await page.locator('#webhooks .u-value').getByText('12:00:00 UTC (13:00:00 local)').waitFor({ state: 'attached' });
    const { page: far } = await opened(url, { zone: 'Pacific/Kiritimati' });
    await far.locator('#verdict').getByText('11:57:40 UTC (2026-11-21 01:57:40 local)').waitFor();
  });

  it('turns grey when the daemon dies, says so, and keeps counting ages, at four widths and on paper, in light and dark mode, without a serious finding of axe, and is reached by keyboard alone; and recovers with the daemon', async () => {
    const path = await fillMirror(10);
    const first = await showMirror(path);
    const { page, troubles } = await opened(first.url);
    await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
    await page.locator('#history canvas').first().waitFor();
    const shown = await page.locator('#verdict time[data-time="ago"]').first().textContent();
    await first.stop();
    await page.getByRole('alert').getByText('The daemon does not answer').waitFor();
    await page
      .locator('#verdict time[data-time="ago"]')
      .first()
      .filter({ hasNotText: new RegExp(`^${shown}$`) })
      .waitFor();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`)).toBe('grayscale(1)');
    for (const width of [360, 768, 1280, 1920])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await picture(page, `dead-${width}-${colorScheme}`);
        expect([width, await scrollsSideways(page), await broken(page)]).toEqual([width, false, []]);
      }
    expect(await page.title()).toBe('Not current · vendor-mirror');
    expect(await unreached(page)).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('alert').innerText()).toMatch(/^The daemon does not answer.* at [\d:]+ UTC/);
    // Backgrounds are not printed.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('#notice')).color`)).toBe('rgb(20, 32, 43)');
    // A filter would print pictures of the text, cut at their edges.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`)).toBe('none');
    await print(page, 'dead-print');
    await page.emulateMedia({ media: 'screen' });
    const second = await showMirror(path, { port: Number(new URL(first.url).port) });
    await page.locator('#notice').waitFor({ state: 'hidden' });
    // The browser itself notes each request that nobody answered.
    expect(troubles.filter((each) => !each.includes('net::ERR_'))).toEqual([]);
    expect(second.faults).toEqual([]);
    expect(await page.title()).toBe('Correct · vendor-mirror');
  });

  it('keeps the title true in the background, with a request a minute', async () => {
    const { url, change, stop } = await showMirror(await fillMirror(10));
    const { page } = await opened(url);
    await page.clock.install();
    await page.reload();
    const requests: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange'))`);
    await change('UPDATE callbacks SET verified = 0');
    const becomes = async (title: RegExp): Promise<void> => {
      // In steps that no request takes too long for. The daemon makes a page once a second, of its own clock.
      for (let steps = 0; steps < 5_000 && !title.test(await page.title()); steps += 1) await page.clock.runFor(3_000);
      expect(await page.title()).toMatch(title);
    };
    await page.clock.runFor(50_000);
    expect(requests.length).toBeLessThan(3);
    await becomes(/attention/);
    await stop();
    await becomes(/^Not current/);
  });

  it('L87 a daemon that is slow is not dead, and a vendor or a page that is not here is no trouble of the daemon', async () => {
    const { url } = await showMirror(await fillMirror(10));
    const { page } = await opened(url);
    await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/*', async (route) => {
      await held;
      // Requests that were given up have nobody to answer.
      await route.continue().catch(() => undefined);
    });
    for (const seconds of [4, 8]) await page.getByRole('alert').getByText(`not answered for ${seconds} s`).waitFor();
    release();
    await page.locator('#notice').waitFor({ state: 'hidden' });

    const { page: unknown } = await opened(`${url}vendors/6BApk/999999`);
    const asked = unknown.waitForResponse((answer) => [304, 404].includes(answer.status()));
    await asked;
    expect(await unknown.locator('#notice').isVisible()).toBe(false);
    await unknown.getByRole('heading', { name: 'The mirror holds no such vendor.' }).waitFor();
    await unknown.goto(`${url}no/such/page`);
    await unknown.getByRole('heading', { name: 'There is no such page.' }).waitFor();
    expect([await scrollsSideways(unknown), await broken(unknown)]).toEqual([false, []]);
    await picture(unknown, 'no-page');
    await unknown.getByRole('link', { name: 'The mirror at a glance' }).click();
    await unknown.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
  });

  it('L91 lists all vendors to browse and sort by keyboard, at two widths', async () => {
    const { url } = await showMirror(await fillMirror(5_000));
    for (const [width, scheme] of [
      [360, 'dark'],
      [1280, 'light'],
    ] as const) {
      const { page, troubles } = await opened(url, { width, scheme });
      await page.getByRole('link', { name: 'Browse all vendors' }).press('Enter');
      await page.getByText('1 to 100 of 5,000 vendors').waitFor();
      await page.getByRole('link', { name: 'Overdue' }).press('Enter');
      const rows = page.locator('#vendor-list tbody tr');
      await page.waitForURL(/sort=overdue/);
      expect(await rows.first().innerText()).toMatch(
        /^Vendor 89\s+(Number\s*)?89\s+(Outstanding\s*)?89\.00 GBP\s+(Overdue\s*)?89\.00 GBP\s(.*\s)?active$/,
      );
      expect(
        await page.evaluate(
          `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)`,
        ),
      ).toEqual([]);
      expect([await scrollsSideways(page), await broken(page)]).toEqual([false, []]);
      await picture(page, `vendors-${width}`);
      await page.getByRole('link', { name: 'Next' }).press('Enter');
      await page.getByText('101 to 200 of 5,000 vendors').waitFor();
      await page.locator('#search').fill('er');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Changed' }).press('Enter');
      await page.waitForURL(/q=er&sort=changed/);
      await page.goBack();
      await page.getByRole('columnheader', { name: 'Outstanding' }).waitFor();
      expect([await page.locator('#search').inputValue(), page.url()]).toEqual(['er', expect.stringMatching(/q=er$/)]);
      await picture(page, `found-${width}`);
      expect([await scrollsSideways(page), await broken(page), troubles]).toEqual([false, [], []]);
    }
  });

  it('has a first link, seen only while the keyboard is on it, that leads past the head of each page', async () => {
    const { url } = await showMirror(await fillMirror(10));
    for (const path of ['', 'vendors', 'vendors/6BApk/1', 'no/such/page']) {
      const { page, troubles } = await opened(`${url}${path}`, { width: 360 });
      await page.locator('main h1, main h2').first().waitFor();
      const top = async (): Promise<number> => (await page.locator('.skip').boundingBox())?.y ?? 0;
      expect([path, (await top()) < 0]).toEqual([path, true]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.innerText')).toBe('Skip to the contents');
      expect([path, (await top()) >= 0]).toEqual([path, true]);
      await picture(page, `skip-${path.replaceAll('/', '-')}`);
      expect(await broken(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect([path, await page.evaluate(`document.activeElement.closest('#main, #footer') !== null`)]).toEqual([
        path,
        true,
      ]);
      expect([troubles.filter((each) => !each.includes('404')), await scrollsSideways(page)]).toEqual([[], false]);
    }
  });

  it('finds a vendor while the user types, opens its page by keyboard alone, and shows odd names as text', async () => {
    const { url } = await showMirror(await fillMirror(5_000));
    const { page, troubles } = await opened(url, { width: 360 });
    for (let tabs = 0; tabs < 3; tabs += 1) await page.keyboard.press('Tab');
    await page.keyboard.type('MULLER & so');
    await page.locator('#results').getByText('1 vendor', { exact: true }).waitFor();
    await picture(page, 'search-360');
    expect(await broken(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Müller & Söhne GmbH' }).waitFor();
    await page.getByText('Graz').waitFor();
    expect(await page.locator('.timeline ins').first().textContent()).toBe('Wien');
    await picture(page, 'vendor-360');
    expect([await broken(page), await cutDates(page)]).toEqual([[], []]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.locator('#search').fill('4999');
    await page.locator('#results a').first().waitFor();
    await page.locator('#timeline-title').click();
    expect(await page.locator('#results').innerText()).toBe('');
    await page.locator('#search').click();
    await page.locator('#results a').first().waitFor();
    for (const wanted of ['4999', 'office4999@', '<script', '\u202e', '👩‍👩‍👧‍👦']) {
      await page.locator('#search').fill(wanted);
      await page.locator('#results a').first().waitFor();
      await page.keyboard.press('Escape');
      expect(await page.locator('#results').innerText()).toBe('');
    }
    expect(troubles).toEqual([]);
    const { page: wide, troubles: others } = await opened(`${url}vendors?q=WWWW`, { scheme: 'dark' });
    await wide.getByRole('link', { name: 'W'.repeat(200) }).click();
    await wide.getByText('Timeline').waitFor();
    await picture(wide, 'vendor-1280-dark');
    expect([await scrollsSideways(wide), await broken(wide), others]).toEqual([false, [], []]);
  });
});
