import { expect, it } from 'vitest';
import { unusuallySilentFor } from '../../../src/health/judge.ts';

const now = Date.UTC(2026, 10, 20, 12);
const minutes = (count: number): number => count * 60_000;

it.each([
  ['three changes were missed and nothing came for 15 minutes', 3, '2026-11-20 11:45:00.000', minutes(15)],
  ['two changes were missed', 2, '2026-11-20 09:00:00.000', undefined],
  ['a delivery came 14 minutes ago', 3, '2026-11-20 11:46:00.000', undefined],
  ['no delivery ever arrived, since the program began', 3, null, minutes(60)],
])('where %s, silence is reported only if it is unusual', (_, missedSince, lastDelivery, silentFor) => {
  expect(unusuallySilentFor({ missedSince, lastDelivery, provenAt: null }, now, now - minutes(60))).toBe(silentFor);
});

it('L96 a callback that was verified since answers the doubt, until new changes are missed', () => {
  const missed = { missedSince: 3, lastDelivery: '2026-11-20 09:00:00.000' };
  const silentFor = (provenAt: string) => unusuallySilentFor({ ...missed, provenAt }, now, now);
  expect(silentFor('2026-11-20 11:50:00.000')).toBeUndefined();
  expect(silentFor('2026-11-20 11:40:00.000')).toBe(minutes(20));
});
