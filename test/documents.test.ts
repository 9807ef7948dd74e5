/** What a reader is told must be so: the documents against the program. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { catalogue, exitStatus } from '../src/domain/errors.ts';
import { declareCommands } from '../src/cmd/commands.ts';
import { ProgramCommand } from '../src/cmd/options.ts';
import { processContext } from '../src/cmd/process/process-context.ts';
import { systemClock } from '../src/domain/clock.ts';
import { limits } from '../src/domain/limits.ts';
import { worldAxes } from '../src/sandbox/core/worlds.ts';
import { limitsTable, untold } from './support/limits-table.ts';
import { ask, packageRoot, temporaryFolder, writeMirror } from './support/mirror-file.ts';

const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'config/API.md',
  'config/COMMANDS.md',
  'config/README.md',
  'config/RUNBOOK.md',
  'config/SECURITY.md',
  'migrations/README.md',
  'src/README.md',
  'src/sandbox/README.md',
  'test/HAZARDS.md',
  'test/README.md',
];

function read(document: string): string {
  return readFileSync(join(packageRoot, document), 'utf8');
}

/** What stands below a heading, up to the next of its level; all of the document for its title. */
function section(document: string, title: string): string {
  const [, rest = ''] = `\n${read(document)}`.split(new RegExp(`\n##? ${title}\n`));
  return rest.split('\n## ')[0] ?? '';
}

/** Words in backquotes that begin an entry of a list, several to an entry: `` - `a`, `b`: … `` or `` - `a` (default): … `` */
function entriesOf(text: string): string[] {
  const heads = [...text.matchAll(/^- (`[^`]+`(?:, `[^`]+`)*)(?: \(.+\))?: \S/gm)].map((entry) => entry[1] ?? '');
  return heads.flatMap((head) => [...head.matchAll(/`([^`]+)`/g)].map((word) => word[1] ?? ''));
}

function leaves(value: unknown, path: string): string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  // What a map holds by default, it documents; one whose keys are names of the reader's own is empty.
  const entries = isMap ? Object.entries(value) : [];
  if (entries.length === 0) return [path];
  return entries.flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key));
}

describe('the documents', () => {
  it('names every setting, and none that does not exist', () => {
    const defaults: unknown = parseDocument(readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8')).toJS();
    expect(entriesOf(section('config/README.md', 'Settings')).sort()).toEqual(leaves(defaults, '').sort());
  });

  it('L46 tells the limits and delays of the program: `npm run limits` writes them', () => {
    expect(section('config/README.md', 'Limits and delays').trim().endsWith(limitsTable())).toBe(true);
    expect(untold()).toEqual([]);
  });

  it.each([
    ['config/API.md', [`up to ${limits.apiPage}; default ${limits.apiUsualPage}`]],
    ['config/API.md', [`(default ${limits.apiUsualPage}, up to ${limits.apiPage})`]],
    ['config/API.md', [`(default and maximum ${limits.apiPage})`]],
    ['config/API.md', [`no more than ${limits.rowsSearched.toLocaleString('en')} vendors`]],
    ['config/API.md', [`at most ${limits.readerPage.toLocaleString('en')}`]],
    ['config/API.md', [`a comment every ${limits.streamComment / 1_000} seconds`]],
    ['config/COMMANDS.md', [`${limits.verifiedById} vendors as reads by id show them`]],
    ['config/README.md', [`of at most ${limits.settingsFile / 2 ** 20} MB`]],
    ['config/RUNBOOK.md', [`${limits.answer / 2 ** 20} MB; for a list`, `at most ${limits.list / 2 ** 20} MB`]],
    ['config/RUNBOOK.md', [`The log warns at ${limits.journal / 2 ** 20} MB`]],
    ['config/RUNBOOK.md', [`Less than ${limits.freeSpace / 2 ** 30} GB is free`]],
  ])('L46 %s says so in its sentences: %j', (document, phrases) => {
    for (const phrase of phrases) expect(read(document)).toContain(phrase);
  });

  it('L46 names every file that writes a vendor row', () => {
    const [answer = ''] = /(?<=\n- Where does a vendor row change\? ).+/.exec(read('CONTRIBUTING.md')) ?? [];
    const named = [...answer.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path);
    const files = readdirSync(join(packageRoot, 'src/store'), { recursive: true, encoding: 'utf8' });
    const writers = files
      .map((file) => `src/store/${file}`)
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => /\b(?:(?:updateTable|insertInto)\('|UPDATE |INTO )vendors\b/.test(read(path)));
    expect(named.sort()).toEqual([...writers, 'src/store/reading-writer.ts'].sort());
  });

  it('names every command, and none that does not exist', () => {
    const program = new ProgramCommand('vendor-mirror', () => Promise.resolve());
    declareCommands(program, processContext(new AbortController().signal, packageRoot));
    const names = (command: Command, above: string): string[] =>
      command.commands.length === 0
        ? [above]
        : command.commands.flatMap((inner) => names(inner, `${above} ${inner.name()}`.trim()));
    expect(entriesOf(section('config/COMMANDS.md', 'All commands')).sort()).toEqual(names(program, '').sort());
  });

  it('names every exit code', () => {
    const codes = [...section('config/COMMANDS.md', 'Exit codes').matchAll(/^\| (\d+) +\|/gm)].map((row) =>
      Number(row[1]),
    );
    expect(codes).toEqual(Object.values(exitStatus).sort((a, b) => a - b));
  });

  it('names every error with its exit code and its hint', () => {
    const heads = section('config/RUNBOOK.md', 'Errors').matchAll(/^\*\*`(\w+)`\*\*, exit (\d+): (.+)$/gm);
    expect([...heads].map((head) => head.slice(1))).toEqual(
      Object.entries(catalogue).map(([code, { exit, hint }]) => [code, String(exit), hint]),
    );
  });

  it('has a paragraph for every error code', () => {
    const paragraphs = section('config/RUNBOOK.md', 'Errors').matchAll(/^\*\*`(\w+)`\*\*.+\n\S.{60,}/gm);
    expect([...paragraphs].map(([, code]) => code)).toEqual(Object.keys(catalogue));
  });

  it('names every table and view', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, systemClock, {});
    const made = ask<{ name: string }>(
      path,
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    );
    expect(entriesOf(section('migrations/README.md', 'The data model')).sort()).toEqual(
      made.map(({ name }) => name).sort(),
    );
  });

  it('explains every table, view and column in the data dictionary, with the types that readers see', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, systemClock, {});
    const made = ask<{ name: string; column_name: string; kind: string; type: string | null }>(
      path,
      `SELECT s.name, '' AS column_name, s.type AS kind, NULL AS type FROM sqlite_schema s
         WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'
       UNION ALL
       SELECT s.name, c.name, s.type, iif(c.type IN ('', 'BLOB', 'NUM'), 'TEXT', c.type)
         FROM sqlite_schema s JOIN pragma_table_info(s.name) c
         WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'
       ORDER BY 1, 2`,
    );
    expect(ask(path, 'SELECT name, column_name, kind, type FROM data_dictionary ORDER BY 1, 2')).toEqual(made);
  });

  it('L83 gives a column one type in every table and view for readers', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, systemClock, {});
    const several = ask(
      path,
      `SELECT column_name, group_concat(DISTINCT iif(type = 'INT', 'INTEGER', type)) AS types
       FROM data_dictionary WHERE column_name <> '' AND substr(name, 1, 1) <> '_'
       GROUP BY column_name HAVING types LIKE '%,%'`,
    );
    expect(several).toEqual([]);
  });

  it('names every switch of a world, its values and its default', () => {
    const entries = [...section('src/sandbox/README.md', 'Worlds').matchAll(/^- `(\w+)` \((.+?)\): (.+)$/gm)];
    expect(entries.map((entry) => entry.slice(1))).toEqual(
      worldAxes.map(({ key, values, unit, initial, meaning }) => [
        key,
        unit === undefined
          ? values.map((value) => (value === initial ? `**\`${value}\`**` : `\`${value}\``)).join(', ')
          : `**${initial}** ${unit}`,
        meaning,
      ]),
    );
  });

  it.each(documents)('%s has no link to something that does not exist', (document) => {
    const text = read(document);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? document : join(dirname(document), path);
      expect(existsSync(join(packageRoot, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(read(target)), link).toContain(anchor);
    }
    const words = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.split(' '));
    const paths = words.filter((word) => /^(src|test|config|migrations)\/[\w./-]*$/.test(word));
    expect(paths.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
  });

  it('names existing tests and folders in the lists of what is proven', () => {
    const entries = readdirSync(join(packageRoot, 'test'), { withFileTypes: true });
    const folders = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
    const paths = [...read('test/README.md').matchAll(/`([\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => path.includes('/') && folders.has(path.split('/', 1)[0]!));
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(packageRoot, 'test', path)))).toEqual([]);
  });

  it.each(documents)('%s has no table that is wider than 110 columns', (document) => {
    const lines = read(document).split('\n');
    expect(lines.filter((line) => line.trimStart().startsWith('|') && line.length > 110)).toEqual([]);
  });

  it('says of each folder of the source what it is for', () => {
    const folders = readdirSync(join(packageRoot, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    const said = [...section('src/README.md', 'Layout').matchAll(/^- `src\/.+$/gm)].join('\n');
    expect(folders.map(({ name }) => name).filter((name) => !said.includes(`\`src/${name}/\``))).toEqual([]);
  });

  it('asks, in the README, five questions that every mirror answers', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, systemClock, {});
    const questions = [...section('README.md', 'Five questions').matchAll(/^sqlite3 \S+ "(.+)"$/gm)];
    expect(questions).toHaveLength(5);
    for (const [, sql = ''] of questions) expect(() => ask(path, sql), sql).not.toThrow();
  });

  it('keeps the README short enough to be read', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(10_240);
  });
});

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}
