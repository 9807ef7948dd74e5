/** The operator's pages as a browser shows them: at two widths, by day and by night, by keyboard alone, and while the daemon dies. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { launchChromium, look, missingChromium, type Look, type Looked } from '../support/screen/chromium.ts';
import { fillMirror, showMirror } from '../support/admin/filled-mirror.ts';
import { isMissing } from '../support/needed.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser | undefined;
beforeAll(async () => {
  if (!missingChromium) browser = await launchChromium();
});
afterAll(() => browser?.close());

function opened(url: string, options: Look = {}): Promise<Looked> {
  if (!browser) throw new Error('Chromium was not started.');
  return look(browser, url, options);
}

/** Rules that a page breaks seriously, each with where. The audit is injected past the policy of the page, which allows no such script. */
async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Pictures are kept where `PICTURES` says, for people to look at. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

describe.skipIf(isMissing(missingChromium))('the first page in Chromium', () => {
  it.each([0, 10, 100_000])(
    'with %i vendors fits 360 and 1280 pixels, in light and dark mode, without an error, a request elsewhere or a serious finding of axe',
    async (vendors) => {
      const { url, faults } = await showMirror(await fillMirror(vendors));
      for (const width of [360, 1280])
        for (const scheme of ['light', 'dark'] as const) {
          const { page, troubles } = await opened(url, { width, scheme });
          await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
          await page.getByText(vendors === 0 ? 'Nothing is owed' : 'Owed to active vendors').waitFor();
          if (vendors > 0) await page.locator('.plot canvas').nth(3).waitFor();
          expect([width, scheme, await scrollsSideways(page)]).toEqual([width, scheme, false]);
          await picture(page, `overview-${vendors}-${width}-${scheme}`);
          expect([width, scheme, await broken(page)]).toEqual([width, scheme, []]);
          expect(troubles).toEqual([]);
        }
      expect(faults).toEqual([]);
    },
  );

  it('L91 answers ten questions: is the mirror correct, since when, how much is owed in euros, to whom most, what is overdue most, whose account number changed, what changed, when is the next sweep, does a webhook fail, what is known of a vendor', async () => {
    const path = await fillMirror(300);
    const { url, change } = await showMirror(path);
    await change(
      `UPDATE findings SET vendorid = 1, run_id = 400, fields = '["city"]' WHERE id = (SELECT max(id) FROM findings);
       UPDATE _vendor_versions SET run_id = 400 WHERE vendorid = 1 AND changed_fields = '["city"]'`,
    );
    const { page, troubles } = await opened(url);
    const verdict = page.locator('#verdict');
    await verdict.getByText('Your mirror is correct').waitFor();
    expect(await verdict.innerText()).toMatch(/correct as of \d\d:\d\d:\d\d UTC, (just now|\d+ (s|min) ago)\.\s/);
    const euros = page.getByRole('row', { name: /^EUR/ });
    await euros.waitFor();
    expect(await euros.first().innerText()).toMatch(/^EUR\s+[\d,]+\.\d\d\s+[\d,]+\.\d\d$/);
    const payables = page.locator('#payables');
    const largest = (title: string): Promise<string> => payables.getByRole('group', { name: title }).innerText();
    for (const title of ['Most outstanding', 'Most overdue'])
      expect(await largest(title)).toMatch(/^\S.*\s+[\d,]+(\.\d+)? [A-Z]{3}/);
    expect(await payables.innerText()).toMatch(/Müller & Söhne GmbH.*\s+city: Graz → Wien/);
    expect(await verdict.innerText()).toMatch(/Next reconciliation .+\. The mirror is .+\.db\./);
    const events = page.locator('#events');
    expect(await events.innerText()).toMatch(/Today \(UTC\): \d+ vendors? seen for the first time, \d+ changes?\./);
    expect(await events.innerText()).toMatch(/Müller & Söhne GmbH.*\s+city: Graz → Wien/);
    expect(await page.locator('#webhooks .health').innerText()).toMatch(/^Alive\s+Last delivery (just now|.+ ago)\.$/);
    await page.locator('#search').fill('Müller');
    await page.locator('#results').getByText('Müller & Söhne GmbH').waitFor();
    await change('UPDATE callbacks SET verified = 0');
    await page.locator('#webhooks .health').getByText('Dead: no callback is verified').waitFor();
    await verdict.getByText('no callback is verified', { exact: false }).waitFor();
    await picture(page, 'questions');
    expect(troubles).toEqual([]);
  });

  it('shows a change without a reload, and keeps focus, selection, scroll position and opened details', async () => {
    const { url, change } = await showMirror(await fillMirror(10));
    const { page, troubles } = await opened(url);
    await page.getByText('In numbers').first().click();
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
    expect(await page.evaluate('String(getSelection())')).toBe('What is in it');
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
    expect([requests, await archived.innerText()]).toEqual([[], expect.stringContaining('0 vendors')]);
    await page.getByRole('button', { name: 'Paused: go on' }).click();
    await archived.getByText('4').waitFor();
    expect(troubles).toEqual([]);
  });

  it('is printed with a date, without controls, and with its lists and tables whole', async () => {
    const { url } = await showMirror(await fillMirror(300));
    const { page } = await opened(url, { scheme: 'dark' });
    await page.getByText('Owed to active vendors').waitFor();
    await page.locator('#events .changes li').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#printed').innerText()).toMatch(/as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    expect(await page.locator('button:visible, input:visible, .plot:visible').count()).toBe(0);
    const cut = `[...document.querySelectorAll('.changes, .scroll')]
      .filter((list) => list.scrollHeight > list.clientHeight + 1).map((list) => list.className)`;
    expect(await page.evaluate(cut)).toEqual([]);
    await picture(page, 'printed');
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

  it('turns grey when the daemon dies, says so, and keeps counting ages; and recovers with the daemon', async () => {
    const path = await fillMirror(10);
    const first = await showMirror(path);
    const { page } = await opened(first.url);
    await page.getByRole('heading', { name: /^Your mirror is correct/ }).waitFor();
    const before = await page.locator('#verdict time').first().textContent();
    await first.stop();
    await page.getByRole('alert').getByText('The daemon does not answer').waitFor();
    await page
      .locator('#verdict time')
      .first()
      .filter({ hasNotText: new RegExp(`^${before}$`) })
      .waitFor();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`)).toBe('grayscale(1)');
    await picture(page, 'dead');
    const second = await showMirror(path, { port: Number(new URL(first.url).port) });
    await page.locator('#notice').waitFor({ state: 'hidden' });
    expect(second.faults).toEqual([]);
  });

  it('L87 a daemon that is slow is not dead, and a vendor that is not here is no trouble of the daemon', async () => {
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
  });

  it('finds a vendor while the user types, opens its page by keyboard alone, and shows odd names as text', async () => {
    const { url } = await showMirror(await fillMirror(5_000));
    const { page, troubles } = await opened(url, { width: 360 });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
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
    expect(await broken(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    for (const wanted of ['4999', 'office4999@', '<script', '\u202e', '👩‍👩‍👧‍👦']) {
      await page.locator('#search').fill(wanted);
      await page.locator('#results a').first().waitFor();
      await page.keyboard.press('Escape');
      expect(await page.locator('#results').innerText()).toBe('');
    }
    expect(troubles).toEqual([]);
    const { page: wide, troubles: others } = await opened(`${url}vendors?q=WWWW`, { scheme: 'dark' });
    await wide.locator('main').getByText('W'.repeat(200)).click();
    await wide.getByText('Timeline').waitFor();
    await picture(wide, 'vendor-1280-dark');
    expect([await scrollsSideways(wide), await broken(wide), others]).toEqual([false, [], []]);
  });
});
