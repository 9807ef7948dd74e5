/** Numbers, moments and findings, as the dashboard says them. */
import { age } from '../../domain/age.ts';
import { parseInstant } from '../../domain/clock.ts';
import type { FindingKind } from '../../store/tables/mirror-tables.ts';
import { html, type Html } from './html.ts';

const numbers = new Intl.NumberFormat('en');
const sizes = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const dates = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export const count = (value: number): string => numbers.format(value);

/** A share from 0 to 1. */
export const percent = (share: number): string => percents.format(share);

/** `2026-11-20` as `Nov 20`. */
export const date = (day: string): string => dates.format(parseInstant(day));

export function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${sizes.format(value / 1_000 ** power)} ${units[power] ?? ''}`;
}

/** How long ago a moment of ours was, with the moment itself for whoever points at it. */
export function ago(now: number, moment: string | null): Html {
  const words = age({ now: () => now }, moment);
  if (moment === null) return html`${words}`;
  const exact = moment.slice(0, 19);
  return html`<time datetime="${exact.replace(' ', 'T')}Z" title="${exact} UTC">${words}</time>`;
}

/** What a sweep met, in words that follow a number. */
export const findingWords: Readonly<Record<FindingKind, string>> = {
  missed_create: 'created, and no delivery said so',
  missed_update: 'changed, and no delivery said so',
  missed_delete: 'deleted, and no delivery said so',
  missed_restore: 'restored, and no delivery said so',
  balance_only: 'moved only in balance, which no delivery announces',
  in_flight: 'changed so lately that a delivery may still come',
  vanished: 'vanished from the list',
  field_drift: 'report of fields that appeared or disappeared',
  record_rejected: 'could not be used, and were set aside',
  count_mismatch: 'counted otherwise than shown',
  unreadable: 'could not be read',
  breaker: 'hold on absences, until a person judges them',
};
