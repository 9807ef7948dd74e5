/** The settings: read from YAML over the defaults, with every problem at once. */
import { isAbsolute } from 'node:path';
import { LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { MirrorError } from './errors.ts';
import { isLoopback, settingsShape, type Settings } from './settings-shape.ts';

export { isLoopback };
export type { AuthSettings, Rate, ServiceSettings, Settings, SyncSettings } from './settings-shape.ts';

/** What reading settings needs from outside. */
export interface SettingsSources {
  /** config/default.yaml, as text. */
  readonly defaults: string;
  /** The settings file, as text, and the name it goes by in messages. */
  readonly text: string;
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a secret's file; throws where it cannot. */
  readonly readFile: (path: string) => string;
  /** Settings that are found wherever a command is run can only mean the same files by absolute paths. */
  readonly absolutePaths?: boolean;
}

/**
 * The settings of a file, laid over the defaults.
 * @throws MirrorError `settings_invalid` whose message lists every problem, each with its line, path and remedy.
 */
export function parseSettings(sources: SettingsSources): Settings {
  const lines = new LineCounter();
  const document = parseDocument(sources.text, { lineCounter: lines, prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const stars = /[:[,]\s*\*/.test(sources.text) ? ['A value that begins with * must stand in quotes.'] : [];
    throw invalid(sources.name, [...document.errors.map((error) => error.message.trim()), ...stars]);
  }
  const problems: Problem[] = [];
  const given = filled(document.toJS() ?? {}, [], sources, problems);
  const merged = overlay(parseDocument(sources.defaults).toJS(), given);
  const result = settingsShape.safeParse(merged);
  if (!result.success) problems.push(...result.error.issues.flatMap(problemsOf));
  else problems.push(...contradictions(result.data), ...(sources.absolutePaths ? relativePaths(result.data) : []));
  if (problems.length > 0 || !result.success) {
    throw invalid(
      sources.name,
      problems.map((problem) => place(problem, document, lines) + problem.remedy),
    );
  }
  return result.data;
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly remedy: string;
}

function invalid(name: string, problems: readonly string[]): MirrorError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new MirrorError(
    'settings_invalid',
    `${name} has ${count}:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
}

function place(problem: Problem, document: Document, lines: LineCounter): string {
  const node = document.getIn(problem.path, true) as { range?: [number, number, number] } | undefined;
  const line = node?.range ? `line ${lines.linePos(node.range[0]).line}, ` : '';
  return `${line}${problem.path.map(String).join('.') || 'the file'}: `;
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      remedy: 'unknown key; remove it or mend its spelling',
    }));
  const remedy =
    issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
      ? `expected ${issue.expected}`
      : `should be ${issue.message}`;
  return [{ path: issue.path, remedy }];
}

/** What no single key shows. */
function contradictions(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const { service, admin, sandbox } = settings;
  if (!sandbox && service.baseUrl === null)
    problems.push({ path: ['service', 'baseUrl'], remedy: 'should be the https address of the service' });
  if (!sandbox && service.auth === null)
    problems.push({ path: ['service', 'auth'], remedy: 'should hold accessToken, accessTokenFile or oauth' });
  if (sandbox && (service.baseUrl !== null || service.auth !== null))
    problems.push({ path: ['sandbox'], remedy: 'should be null where service.baseUrl or service.auth is set' });
  if (!isLoopback(admin.host) && admin.token === null)
    problems.push({ path: ['admin', 'token'], remedy: 'should be set where admin.host is not this machine' });
  return problems;
}

/** Paths of the settings that depend on where the command is run. */
function relativePaths({ database, secrets, publish, service: { auth } }: Settings): Problem[] {
  const paths: readonly (readonly [readonly string[], string | null | undefined])[] = [
    [['database'], database],
    [['secrets'], secrets],
    [['publish', 'path'], publish.path],
    [['service', 'auth', 'accessTokenFile'], auth && 'accessTokenFile' in auth ? auth.accessTokenFile : null],
  ];
  return paths
    .filter(([, path]) => typeof path === 'string' && !isAbsolute(path))
    .map(([path]) => ({ path, remedy: absoluteWanted }));
}

const absoluteWanted = 'should be an absolute path in this file, which counts wherever a command is run';

const secretNames = new Set(['clientSecret', 'refreshToken', 'token']);

/** Puts environment variables and the contents of secrets' files in their places. */
function filled(value: unknown, at: readonly PropertyKey[], sources: SettingsSources, problems: Problem[]): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const found = sources.env[name];
      if (found === undefined || found === '')
        problems.push({ path: at, remedy: `the environment variable ${name} is not set` });
      return found ?? 'unset';
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => filled(item, [...at, index], sources, problems));
  if (!isMap(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    const content = filled(inner, [...at, key], sources, problems);
    const name = key.endsWith('File') ? key.slice(0, -'File'.length) : key;
    if (name === key || !secretNames.has(name) || typeof content !== 'string') return [key, content];
    if (sources.absolutePaths && !isAbsolute(content)) problems.push({ path: [...at, key], remedy: absoluteWanted });
    try {
      return [name, sources.readFile(content).trim()];
    } catch {
      problems.push({ path: [...at, key], remedy: `cannot read ${content}` });
      return [name, 'unread'];
    }
  });
  return Object.fromEntries(entries);
}

function overlay(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = key in base ? overlay(base[key], value) : value;
  return merged;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
