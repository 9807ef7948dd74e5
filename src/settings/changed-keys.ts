/** Which keys of two settings differ, so that a running daemon can name those that need a restart. */
import { Secret } from '../domain/secret.ts';
import type { Settings } from './shape.ts';

/** Keys that are derived from others, and those that a running daemon applies. */
const ignored: Readonly<Record<string, true>> = {
  accounts: true,
  isRestricted: true,
  namedAccounts: true,
  accountsOfFile: true,
  connections: true,
  connectionOf: true,
  paused: true,
  readFrom: true,
  'service.auth': true,
} satisfies Partial<Record<keyof Settings | 'service.auth', true>>;

/** Keys that need a restart, as a person writes them, such as `listener.port`. Values are compared and never shown. */
export function changedKeys(before: Settings, after: Settings): string[] {
  return differing(before, after, '').sort();
}

function differing(before: unknown, after: unknown, key: string): string[] {
  if (key in ignored) return [];
  if (!isMap(before) || !isMap(after)) return isSame(before, after) ? [] : [key];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => differing(before[name], after[name], key === '' ? name : `${key}.${name}`));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Secret || other instanceof Secret)
    return one instanceof Secret && other instanceof Secret && one.reveal() === other.reveal();
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  if (isMap(one) && isMap(other)) return differing(one, other, '').length === 0;
  return one === other;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}
