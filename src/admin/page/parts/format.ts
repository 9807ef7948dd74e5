/** Numbers, moments and findings, as the page shows them. */
import { age } from '../../../domain/age.ts';
import { minorUnits, money } from '../../../domain/amounts.ts';
import type { Balance } from '../../../domain/vendor.ts';
import { parseInstant, timestamp } from '../../../domain/clock.ts';
import type { FindingKind } from '../../../store/tables/mirror-tables.ts';
import { html, type Html } from './html.ts';

const numbers = new Intl.NumberFormat('en');
const sizes = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const dates = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export const count = (value: number): string => numbers.format(value);

/** A number with what is counted: `1 vendor`, `2 vendors`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${numbers.format(value)} ${value === 1 ? one : many}`;

/** An amount with its thousands grouped; unchanged if it is not a number. */
export function amountText(balance: Balance): string {
  const minor = minorUnits(balance);
  return minor === null ? `${balance.amount} ${balance.code}` : money(minor, balance.code);
}

/** A share from 0 to 1. */
export const percent = (share: number): string => percents.format(share);

/** `2026-11-20` as `Nov 20`. */
export const date = (day: string): string => dates.format(parseInstant(`${day} 00:00:00`));

export function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${sizes.format(value / 1_000 ** power)} ${units[power] ?? ''}`;
}

/** How long ago a moment was, with the moment itself as a tooltip; the browser keeps counting. */
export function ago(now: number, moment: string | null): Html {
  return counting(moment, age({ now: () => now }, moment), 'ago');
}

/** How long something has lasted since a moment. */
export function lasting(now: number, since: string): Html {
  return counting(since, age({ now: () => now }, since).replace(/ ago$/, ''), 'for');
}

function counting(moment: string | null, words: string, kind: 'ago' | 'for'): Html {
  if (moment === null || parseInstant(moment) === undefined) return html`${words}`;
  const exact = moment.slice(0, 19);
  return html`<time datetime="${exact.replace(' ', 'T')}Z" title="${exact} UTC" data-age="${kind}">${words}</time>`;
}

/** The time of a moment: `11:57:40 UTC`, with the date if it is not today. */
export function clockTime(now: number, moment: string): string {
  const time = `${moment.slice(11, 19)} UTC`;
  const day = moment.slice(0, 10);
  return day === timestamp(now).slice(0, 10) ? time : `${date(day)}, ${time}`;
}

/** What a sweep met, as the predicate of a sentence about a vendor or the list. */
export const findingWords: Readonly<Record<FindingKind, string>> = {
  missed_create: 'created, and no delivery announced it',
  missed_update: 'changed, and no delivery announced it',
  missed_delete: 'deleted, and no delivery announced it',
  missed_restore: 'restored, and no delivery announced it',
  balance_only: 'changed only in its balance, which no delivery announces',
  in_flight: 'changed so recently that a delivery may still arrive',
  vanished: 'vanished from the list',
  field_drift: 'has fields that appeared or disappeared',
  record_rejected: 'has a record that could not be used',
  count_mismatch: 'shows a different number of vendors than it counts',
  unreadable: 'could not be read',
  breaker: 'lacks so many vendors that a person must approve their absence',
};
