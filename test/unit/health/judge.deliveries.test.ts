/** What is said of an account's webhooks. */
import { expect, it } from 'vitest';
import { judgeDeliveries, type AccountFacts } from '../../../src/health/judge.ts';

const now = Date.UTC(2026, 10, 25, 12);

type Facts = Parameters<typeof judgeDeliveries>[0];

const freshness = { last_complete_sweep: '2026-11-25 11:50:00.000', callback_verified: 1 } as Facts['freshness'];
const callback = { verified: 1 } as AccountFacts['callbacks'][number];
const healthy: Facts = {
  awaitsDeliveries: true,
  callbacks: [callback],
  freshness,
  lastDelivery: '2026-11-25 11:30:00.000',
  provenAt: null,
  missedSince: 0,
  refused: [],
};

it.each<[string, Partial<Facts>, string, RegExp]>([
  ['deliveries came today', {}, 'good', /^Alive$/],
  ['none is awaited', { awaitsDeliveries: false }, 'fair', /^Off: /],
  [
    'no callback is registered before the first complete sweep',
    { callbacks: [], freshness: { ...freshness, last_complete_sweep: null } },
    'busy',
    /^Not registered yet$/,
  ],
  ['no callback is registered', { callbacks: [] }, 'bad', /^Dead: no callback is registered$/],
  ['none is verified', { freshness: { ...freshness, callback_verified: 0 } }, 'bad', /^Dead: no callback is verified$/],
  ['many changes were missed', { missedSince: 3 }, 'bad', /^Dead: sweeps find changes/],
  [
    'the last arrived days ago, and sweeps found one change since',
    { lastDelivery: '2026-11-21 09:00:00.000', missedSince: 1 },
    'fair',
    /^Doubtful: since the last delivery sweeps found 1 change that should have been announced$/,
  ],
  [
    'none ever arrived, and sweeps found two changes',
    { lastDelivery: null, missedSince: 2 },
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
  const said = judgeDeliveries({ ...healthy, ...facts }, now);
  expect([said.tone, said.words]).toEqual([tone, expect.stringMatching(words)]);
});
