/** Chromium as Debian ships it, driven without a screen. What a page writes on its console, and asks of anybody else, is noted. */
import { existsSync } from 'node:fs';
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
}

export interface Looked {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, and requests to anybody but the page's own server. */
  readonly troubles: string[];
}

export function launchChromium(): Promise<Browser> {
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
    ],
  });
}

/** Opens a page in a window of its own, closed with the test. */
export async function look(
  browser: Browser,
  url: string,
  { width = 1280, scheme = 'light', token }: Look = {},
): Promise<Looked> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    timezoneId: 'UTC',
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
