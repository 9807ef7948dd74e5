/** The first page in each state that it can have, at four widths, by day and by night, on paper, and by keyboard alone. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HealthFacts } from '../../src/health/judge.ts';
import type { Figures } from '../../src/store/reports/figures.ts';
import type { AccountOwed } from '../../src/store/reports/owed.ts';
import { startAdmin } from '../support/admin/admin-requests.ts';
import { sampleFigures } from '../support/admin/sample-figures.ts';
import { able, account, before, daemon, facts, newAccount, published, run, target } from '../support/admin/sample.ts';
import { isMissing } from '../support/needed.ts';
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
} from '../support/screen/chromium.ts';

let browser: Browser | undefined;
beforeAll(async () => {
  if (!missingChromium) browser = await launchChromium();
});
afterAll(() => browser?.close());

interface State {
  readonly facts: HealthFacts;
  readonly figures?: Figures;
  readonly owed?: readonly AccountOwed[];
  /** Of all accounts, or of the first one. */
  readonly path?: string;
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

const nothing: Figures = {
  money: [],
  owed: { rows: [], unknown: 0 },
  payables: { outstanding: [], overdue: [], inactive: [] },
  contacts: [],
  hours: sampleFigures.hours.map((at) => ({ ...at, deliveries: 0, missed: 0, late: 0, latestSeconds: null })),
  today: { ...sampleFigures.today, created: 0, changed: 0 },
  changes: [],
  found: [],
  balancesFound: 0,
  gateways: [],
};

const none = { counts: [], days: [], findings: [], queue: { waiting: 0, parked: 0 }, oldestMark: null };

const refused = {
  requests: 9,
  first_at: before(8 * day),
  last_at: before(minute),
  status: 401,
  code: 'unauthenticated',
  message: 'The service answered 401: the access token has expired.',
  remedy: 'Run `vendor-mirror login`.',
} as const;

const amount = (cents: number) => ({ value: cents / 100, minor: BigInt(cents) });

/** Of so many, one of a hundred is refused, one of fifty fell asleep, and one of thirty has vendors that cannot be read. */
function accounts(many: number): Pick<State, 'facts' | 'owed'> {
  const ids = Array.from({ length: many }, (_, index) => `ac${String(index).padStart(4, '0')}`);
  const wrong = (index: number) => ({
    ...(index % 30 === 7 ? { queue: { waiting: 0, parked: 2 } } : {}),
    ...(index % 50 === 20 ? { doubt: 'The machine slept for 6 h.' } : {}),
    ...(index % 100 === 42 ? { failing: refused } : {}),
  });
  return {
    facts: facts(ids.map((id, index) => account({ account: id, ...wrong(index) }))),
    owed: ids.flatMap((id, index) => [
      { account: id, currency: 'EUR', outstanding: amount(index * 12_345), overdue: amount(index * 1_003) },
      ...(index % 3 === 0
        ? [{ account: id, currency: 'USD', outstanding: amount(123_456_789), overdue: amount(0) }]
        : []),
    ]),
  };
}

const failingTarget = {
  ...{ failing_since: before(3 * hour), last_error: 'crm.example answered 503.', waiting: 12, parked: 1 },
  ...{
    delivered_at: before(3 * hour),
    parked_error: 'crm.example answered 422.',
    behind: 340,
    oldest_waiting: before(3 * hour),
  },
};
const failedCopy = {
  ...{ failing_since: before(26 * hour), failed_at: before(minute), failures: 9, code: 'disk_full' as const },
  ...{ error: 'The disk of /srv/share is full.', behind_since: before(26 * hour) },
};

const states: Readonly<Record<string, State>> = {
  'no vendors': { facts: facts([account(none)]), figures: nothing },
  'one account': { facts: facts() },
  'two accounts': accounts(2),
  'one of two accounts': { ...accounts(2), path: '?account=ac0001' },
  'three hundred accounts': accounts(300),
  'one of three hundred accounts': { ...accounts(300), path: '?account=ac0007' },
  'a first pull': {
    facts: facts([
      {
        ...newAccount('6BApk'),
        awaitsDeliveries: true,
        counts: [{ vis_state: 0, presence: 'present', vendors: 4_200 }],
        progress: { page: 42, pages: 98, pass: 1, seen: 4_200, total: 9_800 },
        runs: [
          run(1, { kind: 'pull', outcome: 'running', started_at: before(minute), finished_at: null, seen: 4_200 }),
        ],
      },
    ]),
    figures: { ...nothing, money: sampleFigures.money.map((one) => ({ ...one, days: one.days.slice(-1) })) },
  },
  'nothing yet': { facts: { ...facts([newAccount('6BApk')]), startedAt: null }, figures: nothing },
  'a dead token': {
    facts: facts([
      account({
        ...{ failing: refused, refusedSince: refused.first_at, lastDelivery: before(8 * day) },
        ...{ runs: [run(1, { outcome: 'failed', started_at: before(3 * minute), seen: 0, error: refused.message })] },
        freshness: {
          ...account().freshness,
          ...{ last_complete_sweep: before(8 * day), safe_as_of: before(8 * day), listed_as_of: before(8 * day) },
        },
      }),
    ]),
  },
  'a full disk': {
    facts: {
      ...facts(),
      ability: {
        ...able,
        trouble: { code: 'disk_full', message: 'The disk is full: /var/lib/vendor-mirror has 0 bytes left.' },
        diskFreeBytes: 0,
      },
    },
  },
  'several daemons': {
    facts: { ...facts(), serving: [daemon, { ...daemon, host: 'books-2', works: false }] },
  },
  'several daemons of which none works': {
    facts: {
      ...facts(),
      ability: { ...able, work: { isHere: false, host: null } },
      next: { pull: undefined, reconcile: undefined },
      serving: ['books-1', 'books-2'].map((host) => ({ ...daemon, host, works: false, may_work: false })),
    },
  },
  'a receiver and a publication that fail': {
    facts: {
      ...facts(),
      targets: [target(), target({ target: 'crm.example', ...failingTarget })],
      publications: [published(), published({ path: '/srv/share/second.db', ...failedCopy })],
    },
  },
};

/** Labels of more than one line: a broken word, or a sentence that should stand beside its label. */
const tallLabels = `[...document.querySelectorAll('.pill')]
  .filter((one) => one.checkVisibility() && one.offsetHeight > 30).map((one) => one.textContent)`;

/** Text of the legends of charts that is cut. */
const cutLegends = `[...document.querySelectorAll('.plot')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).map((one) => one.innerText)`;

/** Tables with cells that are not seen until somebody scrolls sideways. */
const cutTables = `[...document.querySelectorAll('.scroll')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)`;

/** How many distances from the left edge the states of folded sections have. */
const stateColumns = `new Set([...document.querySelectorAll('.folded .state')].map((one) => one.offsetLeft)).size`;

describe.skipIf(isMissing(missingChromium))('L91 the first page in Chromium', () => {
  it.each(Object.entries(states))(
    'with %s fits four widths, a zoom of 400 percent and paper, in light and dark mode, without an error or a serious finding of axe, and is reached by keyboard alone',
    async (name, { facts: shown, figures = sampleFigures, owed = [], path = '' }) => {
      if (!browser) throw new Error('Chromium was not started.');
      const supply = () => Promise.resolve(shown);
      const admin = await startAdmin({}, supply, undefined, shown.ability, undefined, figures, owed);
      // Where the date differs from that of UTC, moments are longest.
      const { page, troubles } = await look(browser, `${admin.url}/${path}`, { zone: 'Pacific/Kiritimati' });
      for (const width of [360, 768, 1280, 1920])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          expect([width, await scrollsSideways(page)]).toEqual([width, false]);
          await picture(page, `${name}-${width}-${colorScheme}`);
          // What is folded is on the page, too.
          if (width === 360)
            await page.evaluate(
              `document.querySelectorAll('main > section > details').forEach((one) => (one.open = true))`,
            );
          expect([width, await page.evaluate(tallLabels)]).toEqual([width, []]);
          expect([width, await page.evaluate(cutTables)]).toEqual([width, []]);
          expect(await page.evaluate<number>(stateColumns)).toBeLessThan(2);
          expect([width, await cutDates(page)]).toEqual([width, []]);
          if (width === (colorScheme === 'light' ? 768 : 1280))
            expect([width, await broken(page)]).toEqual([width, []]);
        }
      // What is not known is left out, or said in words.
      expect(await page.locator('body').innerText()).not.toMatch(/null|undefined|NaN|\[object/);
      expect(await unreached(page)).toEqual([]);
      // A window of 1280 pixels at 400 %.
      await page.setViewportSize({ width: 320, height: 256 });
      expect([await scrollsSideways(page), await page.evaluate(cutTables)]).toEqual([false, []]);
      // Charts are drawn anew after the window has changed.
      await page.waitForFunction(`${cutLegends}.length === 0`);
      await picture(page, `${name}-320`);
      await page.emulateMedia({ forcedColors: 'active' });
      await picture(page, `${name}-forced`);
      await page.emulateMedia({ forcedColors: 'none' });
      await page.setViewportSize({ width: 794, height: 1123 });
      await page.emulateMedia({ media: 'print', colorScheme: 'light' });
      expect(await scrollsSideways(page)).toBe(false);
      expect(await page.evaluate(cutTables)).toEqual([]);
      expect(await print(page, `${name}-print`)).toBeLessThan(path === '' && shown.accounts.length > 99 ? 12 : 7);
      expect([troubles, admin.faults]).toEqual([[], []]);
    },
  );
});
