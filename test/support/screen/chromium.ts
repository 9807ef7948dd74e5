/** Chromium as Debian ships it, driven without a screen. What a page writes on its console, and asks of anybody else, is noted. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const program = '/usr/bin/chromium';

/** What is missing for such tests; undefined where nothing is. */
export const missingChromium = existsSync(program) ? undefined : `there is no ${program} (Debian's package chromium)`;

export interface Look {
  /** In CSS pixels; default 1280. */
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  /** Where the reader is; default UTC. */
  readonly zone?: string;
}

export interface Looked {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, and requests to anybody but the page's own server. */
  readonly troubles: string[];
}

export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}

/** Opens a page in a window of its own, closed with the test. */
export async function look(
  browser: Browser,
  url: string,
  { width = 1280, scheme = 'light', token, zone = 'UTC' }: Look = {},
): Promise<Looked> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    timezoneId: zone,
    ...(token === undefined ? {} : { httpCredentials: { username: 'operator', password: token } }),
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const troubles: string[] = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => void troubles.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, troubles };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules that a page breaks seriously, each with where. The audit is injected past the policy of the page, which allows no such script. */
export async function broken(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Dates of which a part stands on the next line. */
export const cutDates = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('time')].filter((one) => one.checkVisibility()).flatMap((one) => {
  const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
  const cut = [];
  while (texts.nextNode()) {
    const text = texts.currentNode;
    for (const { index } of text.data.matchAll(/\\d{4}-\\d\\d-\\d\\d/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + 10);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) cut.push(one.textContent);
    }
  }
  return cut;
})`);

/** Everything that the keyboard should reach, and does not. Elements are remembered, not marked: the page takes marks off when it is brought up to date. */
export async function unreached(page: Page): Promise<string[]> {
  const focusable = `[...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
    .filter((one) => one.checkVisibility() && !one.closest('dialog'))`;
  await page.evaluate(`document.activeElement.blur()`);
  await page.evaluate(
    `{ window.reached = new Set(); document.addEventListener('focusin', ({ target }) => reached.add(target)); }`,
  );
  for (let tab = await page.evaluate<number>(`${focusable}.length`); tab > 0; tab -= 1)
    await page.keyboard.press('Tab');
  return page.evaluate(`${focusable}.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 200))`);
}

/** Pictures are kept where `PICTURES` says, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Prints a page on A4, kept where `PICTURES` says. @returns how many sheets it takes */
export async function print(page: Page, name: string): Promise<number> {
  const folder = process.env['PICTURES'];
  const margin = '12mm';
  const paper = await page.pdf({
    format: 'A4',
    margin: { top: margin, bottom: margin, left: margin, right: margin },
    ...(folder ? { path: join(folder, `${name}.pdf`) } : {}),
  });
  return paper.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
}
