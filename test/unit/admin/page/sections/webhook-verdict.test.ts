/** What the page says of an account's webhooks. */
import { expect, it } from 'vitest';
import type { AccountFacts, WebhookDay } from '../../../../../src/admin/health/health.ts';
import { webhookVerdict } from '../../../../../src/admin/page/sections/webhook-verdict.ts';

const now = Date.UTC(2026, 10, 25, 12);

type Facts = Parameters<typeof webhookVerdict>[0];

const freshness = { last_complete_sweep: '2026-11-25 11:50:00.000', callback_verified: 1 } as Facts['freshness'];
const callback = { verified: 1 } as AccountFacts['callbacks'][number];
const healthy: Facts = {
  watchdog: 'receiving',
  callbacks: [callback],
  freshness,
  lastDelivery: '2026-11-25 11:30:00.000',
  days: [],
};

function missedOn(day: string, unannounced_changes: number): WebhookDay {
  const none = { deliveries: 0, duplicates: 0, announced_changes: 0, late_deliveries: 0 };
  return { day, unannounced_changes, latest_seconds: null, loss_rate: null, ...none };
}

it.each<[string, Partial<Facts>, string, RegExp]>([
  ['deliveries came today', {}, 'good', /^Alive$/],
  ['none is awaited', { watchdog: 'off' }, 'fair', /^Off: /],
  ['no callback is registered', { callbacks: [] }, 'bad', /^Dead: no callback is registered$/],
  ['none is verified', { freshness: { ...freshness, callback_verified: 0 } }, 'bad', /^Dead: no callback is verified$/],
  ['many changes were missed', { watchdog: 'silent' }, 'bad', /^Dead: sweeps find changes/],
  [
    'the last arrived days ago, and sweeps found one change since',
    { lastDelivery: '2026-11-21 09:00:00.000', days: [missedOn('2026-11-20', 4), missedOn('2026-11-23', 1)] },
    'fair',
    /^Doubtful: since the last delivery sweeps found 1 change that should have been announced$/,
  ],
  [
    'none ever arrived, and sweeps found two changes',
    { lastDelivery: null, days: [missedOn('2026-11-23', 2)] },
    'fair',
    /^Doubtful: no delivery ever arrived, and sweeps found 2 changes that should have been announced$/,
  ],
  ['none ever arrived, and nothing changed', { lastDelivery: null }, 'fair', /^Not proven: /],
  [
    'the last arrived days ago, and sweeps found nothing since',
    { lastDelivery: '2026-11-21 09:00:00.000' },
    'good',
    /^Quiet for 4 days: the callback is verified, and no sweep found a change that should have been announced$/,
  ],
  [
    'the last arrived days ago, and no sweep was complete since',
    {
      lastDelivery: '2026-11-21 09:00:00.000',
      freshness: { ...freshness, last_complete_sweep: '2026-11-20 09:00:00.000' },
    },
    'fair',
    /^Quiet for 4 days: .*missed changes are unknown$/,
  ],
])('the webhooks where %s', (_, facts, tone, words) => {
  const said = webhookVerdict({ ...healthy, ...facts }, now);
  expect([said.tone, said.words]).toEqual([tone, expect.stringMatching(words)]);
});
