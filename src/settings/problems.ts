/** Problems of settings, by the names and lines of the file. */
import type { z } from 'zod';
import type { SettingsYaml } from './yaml.ts';

/** What is wrong with a setting, and what to do. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** The last key of the path may be a value without its key, such as a token. */
  readonly hideKey?: boolean;
  readonly remedy: string;
}

/** Where a problem is, as the person who wrote the file finds it: line and path. */
export function place({ path, hideKey }: Problem, { lineOf }: SettingsYaml): string {
  const at = lineOf(path);
  const line = at === undefined ? '' : `line ${at}, `;
  const names = path.map(keyName);
  if (hideKey) names[names.length - 1] = hidden;
  return `${line}${names.join('.') || 'the file'}: `;
}

const hidden = '(a key that is not shown)';

/** A key as messages show it, if it looks like one. */
function keyName(key: PropertyKey): string {
  return typeof key === 'number' || /^[A-Za-z]{1,32}$/.test(String(key)) ? String(key) : hidden;
}

/** The problems of an issue of the shape, in settings as they were given. */
export function problemsOf(issue: z.core.$ZodIssue, given: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      hideKey: valueAt(given, [...issue.path, key]) === null,
      remedy: 'unknown key; remove it or fix its spelling',
    }));
  const meant = issue.code === 'invalid_union' ? issue.errors.find(isInside) : undefined;
  if (meant) return meant.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, given));
  const remedy =
    issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
      ? `expected ${issue.expected}`
      : `should be ${issue.message}`;
  return [{ path: issue.path, remedy }];
}

/** Whether what is wrong with one form of a setting is inside it, so that this form is meant. */
function isInside(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => path.length > (code === 'unrecognized_keys' ? 0 : 1));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, key) => (at as Record<PropertyKey, unknown>)[key], value);
}
