/** What a reader is told must be so: the README against the program. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { catalogue, exitStatus } from '../src/domain/errors.ts';
import { declareCommands } from '../src/cmd/commands.ts';
import { processEdge } from '../src/cmd/process/process-context.ts';
import { systemClock } from '../src/domain/clock.ts';
import { ask, packageRoot, temporaryFolder, writeMirror } from './support/mirror-file.ts';

const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');

function section(title: string): string {
  const [, rest = ''] = readme.split(`\n## ${title}\n`);
  return rest.split('\n## ')[0] ?? '';
}

/** Words in backquotes that begin a row of a table, several to a row. */
function rowsOf(text: string): Set<string> {
  const cells = [...text.matchAll(/^\| (`[^|]+)\|/gm)].map((row) => row[1] ?? '');
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((word) => word[1] ?? '')));
}

function leaves(value: unknown, path: string): string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key));
}

describe('the README', () => {
  it('names every setting, and none that does not exist', () => {
    const defaults: unknown = parseDocument(readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8')).toJS();
    expect([...rowsOf(section('Settings'))].sort()).toEqual(leaves(defaults, '').sort());
  });

  it('names every command, and none that does not exist', () => {
    const program = new Command('vendor-mirror');
    declareCommands(program, processEdge(new AbortController().signal, packageRoot), () => () => Promise.resolve());
    const names = (command: Command, above: string): string[] =>
      command.commands.length === 0
        ? [above]
        : command.commands.flatMap((inner) => names(inner, `${above} ${inner.name()}`.trim()));
    expect([...rowsOf(section('Commands'))].sort()).toEqual(names(program, '').sort());
  });

  it('names every exit code', () => {
    const codes = [...section('Exit codes').matchAll(/^\| (\d+) +\|/gm)].map((row) => Number(row[1]));
    expect(codes).toEqual(Object.values(exitStatus).sort((a, b) => a - b));
  });

  it('names every error with its exit code and its hint', () => {
    const rows = [...section('Errors').matchAll(/^\| `(\w+)` +\| (\d+) +\| (.+?) +\|$/gm)].map((row) => row.slice(1));
    expect(rows).toEqual(Object.entries(catalogue).map(([code, { exit, hint }]) => [code, String(exit), hint]));
  });

  it('names every table and view', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, systemClock, {});
    const made = ask<{ name: string }>(
      path,
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    );
    expect([...rowsOf(section('The data model'))].sort()).toEqual(made.map(({ name }) => name).sort());
  });

  it('names only tests that exist', () => {
    for (const [, path = ''] of section('Guarantees').matchAll(/`(test\/[^`]+)`/g))
      expect(() => readdirSync(join(packageRoot, path.replace(/[^/]+\.ts$/, ''))), path).not.toThrow();
  });
});
