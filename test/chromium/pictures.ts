/**
 * The pictures of the README: the page and the terminal after two months beside the sandbox, in virtual time. `npm run pictures` makes
 * them again; the same sandbox makes the same pictures, whenever that is.
 */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import { changeSomething } from '../../src/sandbox/account/churn.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { runProgram } from '../../src/cmd/program.ts';
import { launchChromium, look } from '../support/screen/chromium.ts';
import { packageRoot } from '../support/mirror-file.ts';
import { account, token } from '../support/names.ts';
import { constantRandom } from '../support/random.ts';
import { terminalPage } from './terminal-picture.ts';
import { testbed } from '../support/testbed.ts';
import { collector } from '../support/testbed/command.ts';
import type { DaemonTestbed } from '../support/testbed/daemon.ts';

const folder = process.env['README_PICTURES'] ?? '';
/** Bytes: a page with all of them loads at once. */
const largest = 350 * 1_024;
const [columns, width] = [100, 1120];
const schemes = ['light', 'dark'] as const;
/** First there was a sync now and then, and at the end a daemon, whose every minute takes long to imitate. */
const [daysOfSyncs, daysBetweenSyncs, daysOfDaemon] = [58, 2, 2];
const [dayMs, stepsADay, changesAStep] = [86_400_000, 24, 4];

/** A schedule that falls due just after `now`, so that a sweep is the last that happened. */
function fourTimesADay(now: number): string {
  const due = new Date(now + 30_000);
  return `${due.getUTCMinutes()} ${due.getUTCHours() % 6}-23/6 * * *`;
}

/** A command's output on a terminal, run beside the daemon. */
async function onTerminal(at: DaemonTestbed, ...argv: string[]): Promise<string> {
  const settings = join(at.folder, 'mirror.yaml');
  const service = { baseUrl: 'https://service.example', auth: { accessToken: token } };
  const listener = { publicUrl: at.settings.listener.publicUrl };
  const { database, secrets } = at.settings;
  writeFileSync(settings, JSON.stringify({ accounts: [account], database, secrets, service, listener }));
  const [stdout, stderr] = [collector(columns), collector(columns)];
  await runProgram([...argv, '-c', settings], {
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: {},
    clock: at.clock,
    random: constantRandom(),
    fetch: globalThis.fetch,
    proxyOf: () => Promise.resolve(undefined),
    certificateTimes: () => Promise.resolve(undefined),
    interrupted: new AbortController().signal,
    packageRoot,
    machineSettings: settings,
  });
  expect(stderr.text()).toBe('');
  return stdout.text().replaceAll(at.folder, '/var/lib/vendor-mirror');
}

async function terminalPictures(browser: Browser, name: string, text: string): Promise<string[]> {
  const paths: string[] = [];
  for (const colorScheme of schemes) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 400 } });
    await page.setContent(terminalPage(text));
    const path = join(folder, `${name}-${colorScheme}.png`);
    await page.locator('pre').screenshot({ path });
    await page.close();
    paths.push(path);
  }
  return paths;
}

describe('the pictures of the README', () => {
  it('show the page and the terminal after two months beside the sandbox, each in less than 200 kB', async () => {
    const now = systemClock.now();
    const at = await testbed({
      level: 'daemon',
      // The page's figures are worked out by the machine's clock.
      begins: now - (daysOfSyncs + daysOfDaemon) * dayMs,
      started: false,
      world: ['records=plain'],
      vendors: 480,
      seed: 'pictures',
      deliveries: { lose: 0.02, late: 0.02 },
      settings: { schedule: { pull: '0 3 * * *', reconcile: fourTimesADay(now) } },
    });
    const random = seededRandom(seedOf('pictures'));
    const life = (): void => {
      for (let change = 0; change < changesAStep; change += 1) changeSomething(at.sandbox.vendors(account), random);
    };
    const { signal } = new AbortController();
    for (let day = 0; day < daysOfSyncs; day += daysBetweenSyncs) {
      for (let step = 0; step < stepsADay * daysBetweenSyncs; step += 1) life();
      await at.beside((installation) => installation.pull(account, { kind: 'pull', trigger: 'command', signal }));
      await at.clock.pass(daysBetweenSyncs * dayMs);
    }
    await at.clock.during(at.start());
    for (let step = 0; step < daysOfDaemon * stepsADay; step += 1) {
      life();
      await at.clock.pass(dayMs / stepsADay);
    }
    await at.clock.pass(60_000);
    const paths: string[] = [];
    const browser = await launchChromium();
    try {
      for (const scheme of schemes) {
        const { page, troubles } = await at.clock.busy(look(browser, at.daemon.addresses.admin, { scheme, width }));
        await page.locator('#history canvas').nth(2).waitFor();
        await page.locator('#search').blur();
        await page.evaluate(
          `document.querySelector('#verdict .meaning code').textContent = '/var/lib/vendor-mirror/vendors.db'`,
        );
        const path = join(folder, `page-${scheme}.png`);
        const end = await page.locator('#payables').boundingBox();
        await page.screenshot({
          path,
          fullPage: true,
          clip: { x: 0, y: 0, width, height: (end?.y ?? 0) + (end?.height ?? 900) + 16 },
        });
        expect(troubles).toEqual([]);
        paths.push(path);
      }
      paths.push(...(await terminalPictures(browser, 'status', await onTerminal(at, 'status'))));
    } finally {
      await browser.close();
    }
    expect(paths.filter((path) => statSync(path).size > largest)).toEqual([]);
  }, 600_000);
});
