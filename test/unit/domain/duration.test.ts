import { expect, it } from 'vitest';
import {
  apartInWords,
  inWords,
  lastInWords,
  momentInWords,
  parseDuration,
  seconds,
} from '../../../src/domain/duration.ts';

it.each([
  ['500ms', 500],
  ['1.5s', 1_500],
  ['15 m', 900_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['12', undefined],
  ['-1s', undefined],
  ['1w', undefined],
  ['', undefined],
])('the text “%s” is a duration of %s ms, or none', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it('a length of time is written in its largest unit, and seconds below ten with one digit after the point', () => {
  expect([inWords(0), inWords(200_000), seconds(0.42), seconds(42.6)]).toEqual(['0 s', '3 min', '0.4 s', '42 s']);
});

it('how far two clocks are apart is not told an hour short for a second', () => {
  const apart = [10_798_900, 10_801_200, 9_000_000, 59_200, 40_000, 7_230_000].map(apartInWords);
  expect(apart).toEqual(['3 h', '3 h', '2 h', '1 min', '40 s', '2 h']);
});

it('a period that ends now is named as people say it', () => {
  expect([86_400_000, 172_800_000, 60_000].map(lastInWords)).toEqual(['last day', 'last 2 days', 'last 1 min']);
});

it.each([
  ['2026-11-20 11:57:40.120', undefined, '11:57:40 UTC'],
  ['2026-11-19 11:57:40', undefined, '2026-11-19 11:57:40 UTC'],
  ['2026-11-20 11:57:40', '2026-11-20 12:57:40', '11:57:40 UTC (12:57:40 local)'],
  ['2026-11-20 11:57:40', '2026-11-21 01:57:40', '11:57:40 UTC (2026-11-21 01:57:40 local)'],
  ['2026-11-19 11:57:40', '2026-11-19 06:57:40', '2026-11-19 11:57:40 UTC (06:57:40 local)'],
])('on 20 November the moment %s, where the reader has %s, is shown as %s', (moment, local, words) => {
  expect(momentInWords(moment, '2026-11-20 12:00:00', local)).toBe(words);
});
