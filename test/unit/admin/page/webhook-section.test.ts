/** What the page says of missed changes. */
import { expect, it } from 'vitest';
import type { WebhookDays } from '../../../../src/store/account-reports.ts';
import { missedWords } from '../../../../src/admin/page/webhook-section.ts';

type WebhookDay = WebhookDays[number];

const today: WebhookDay = {
  account_id: '6BApk',
  day: '2026-11-26',
  deliveries: 13,
  duplicates: 0,
  announced_changes: 0,
  unannounced_changes: 0,
  late_deliveries: 0,
  latest_seconds: null,
  loss_rate: null,
};

it.each<[string, Partial<WebhookDay>[], string]>([
  ['without deliveries and changes', [], 'No missed change was found in the last 14 days.'],
  ['before the first sweep after deliveries', [{}], 'No missed change was found in the last 14 days.'],
  ['with changes that were all announced', [{ announced_changes: 4 }], 'Of 4 changes in 14 days none was missed'],
  ['with a missed change', [{ announced_changes: 3, unannounced_changes: 1 }], '1 of 4 changes in 14 days was missed'],
])('%s the page says so', (_when, days, words) => {
  expect(missedWords(days.map((day) => ({ ...today, ...day })))).toContain(words);
});
