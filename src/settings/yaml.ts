/**
 * The YAML of a settings file, and its problems by name and line. No problem shows the text, because it may hold a token.
 */
import {
  isNode,
  isScalar,
  isMap as isYamlMap,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type ErrorCode,
} from 'yaml';
import type { z } from 'zod';

/** The YAML of a settings file. Problems are reported by line and column alone, because the text may hold a token. */
interface SettingsYaml {
  /** The plain value of the whole; empty where there are problems. */
  readonly value: unknown;
  /** Each a sentence with its line and column. */
  readonly problems: readonly string[];
  /** The line on which the value at a path stands, or else the nearest above it; undefined for what is not in the file. */
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined;
}

/** Used instead of the parser's own messages, which quote the text. */
const sentences: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) takes no anchor and no tag',
  BAD_ALIAS: 'an anchor or alias has no usable name',
  BAD_COLLECTION_TYPE: 'a tag does not fit its value',
  BAD_DIRECTIVE: 'a line that begins with % is not a known directive',
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins an unknown escape; write \\\\ or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_PROP_ORDER: 'an anchor or tag is in the wrong place',
  BAD_SCALAR_START: 'a value begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value here cannot hold keys of its own; a text with ": " in it needs quotes',
  BLOCK_IN_FLOW: 'lines of keys cannot stand inside brackets',
  DUPLICATE_KEY: 'a key appears twice in one place',
  IMPOSSIBLE: 'this cannot be read as YAML',
  KEY_OVER_1024_CHARS: 'a key is too long; a colon may be missing or misplaced',
  MISSING_CHAR: 'a character is missing, such as a comma, a colon, a bracket or a quote',
  MULTILINE_IMPLICIT_KEY: 'a key runs over several lines; a colon may be missing above',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'there is more than one document; the file may have only one',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY: 'a key is not text',
  RESOURCE_EXHAUSTION: 'the values are nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!name) is not known here; a value that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'something is not allowed here in YAML; a value may need quotes',
};

/** Limits far above what settings need. */
const most = { aliases: 100, depth: 64, indentation: 200 } as const;

/** Reads a settings file as far as YAML goes. Never throws. */
export function readSettingsYaml(text: string): SettingsYaml {
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const deep = deepLine(text);
  const source = deep === undefined ? text : '';
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const lineOf = (path: readonly PropertyKey[]): number | undefined => {
    const offset = offsetOf(document, path);
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  const problems =
    deep === undefined
      ? [...document.errors, ...document.warnings].map(({ code, pos }) => `${at(pos[0])}: ${sentences[code]}`)
      : [`line ${deep}: ${sentences.RESOURCE_EXHAUSTION}`];
  if (problems.length > 0 && /[:[,]\s*\*/.test(text)) problems.push('a value that begins with * needs quotes');
  if (problems.length === 0) problems.push(...aliasProblems(document, at));
  if (problems.length > 0) return { value: undefined, problems, lineOf };
  try {
    return { value: document.toJS({ maxAliasCount: most.aliases }), problems, lineOf };
  } catch {
    const problem = 'the aliases (*name) make more of the file than can be read; write their values out';
    return { value: undefined, problems: [problem], lineOf };
  }
}

function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  const [above, key] = [path.slice(0, -1), path.at(-1)];
  if (key === undefined) return undefined;
  const value = document.getIn(path, true);
  if (isNode(value) && value.range) return value.range[0];
  const map = above.length === 0 ? document.contents : document.getIn(above, true);
  const found = isYamlMap(map)
    ? map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
    : undefined;
  if (isNode(found?.key) && found.key.range) return found.key.range[0];
  return offsetOf(document, above);
}

/** The first line that nests deeper than settings do: the parser would use up the stack. */
function deepLine(text: string): number | undefined {
  let depth = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const [indentation = ''] = /^[ \t?-]*/.exec(line) ?? [];
    if (indentation.length > most.indentation) return index + 1;
    for (const [bracket] of line.matchAll(/[[\]{}]/g)) {
      depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
      if (depth > most.depth) return index + 1;
    }
  }
  return undefined;
}

/** Aliases that lead nowhere, or into themselves. */
function aliasProblems(document: Document, at: (offset: number) => string): string[] {
  const problems: string[] = [];
  let aliases = 0;
  visit(document, {
    Alias(_, alias, ancestors) {
      const place = at(alias.range?.[0] ?? 0);
      if (++aliases > most.aliases) {
        problems.push(`${place}: there are more than ${most.aliases} aliases (*name); write their values out`);
        return visit.BREAK;
      }
      const meant = alias.resolve(document);
      if (!meant) problems.push(`${place}: an alias (*name) has no anchor (&name) above it; a text needs quotes`);
      else if (ancestors.includes(meant))
        problems.push(`${place}: an alias (*name) is inside the value that it refers to`);
      return undefined;
    },
  });
  return problems;
}

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
  const isUnnamed = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input');
  const wanted = isUnnamed ? (typeWords[issue.expected] ?? `a ${issue.expected}`) : issue.message;
  const isMissing = issue.path.length > 0 && valueAt(given, issue.path) === undefined;
  return [{ path: issue.path, remedy: isMissing ? `is missing; it should be ${wanted}` : `should be ${wanted}` }];
}

/** What a value should be, by the name of its type. */
const typeWords: Readonly<Record<string, string>> = {
  object: 'keys with values below it',
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
};

/** Whether what is wrong with one form of a setting is inside it, so that this form is meant. */
function isInside(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => path.length > (code === 'unrecognized_keys' ? 0 : 1));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}
