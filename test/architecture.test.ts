/** The layout of the source, held against every file. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readMigrations } from '../src/store/sqlite/migrate.ts';
import { migrations } from './support/mirror-file.ts';
import { circleAmong, collect, sourceTree, topLevel } from './support/source/source-tree.ts';

const files = sourceTree('src');
const tests = sourceTree('test');

/** From the lowest layer to the highest; the folders of one layer do not know each other. */
const layers = [
  ['domain'],
  ['settings', 'schedule', 'http'],
  ['api', 'store'],
  ['health'],
  ['sync', 'webhook', 'notify', 'admin', 'sandbox', 'reader'],
  ['app'],
  ['cmd'],
];

/** The folder below `src` that a file belongs to. */
function areaOf(path: string): string {
  return path.split('/', 2)[1]!;
}

function layerOf(path: string): number {
  return layers.findIndex((areas) => areas.includes(areaOf(path)));
}

/** Each package is known to one area. */
const knownTo = new Map([
  ['better-sqlite3', 'store'],
  ['kysely', 'store'],
  ['csv-stringify', 'store'],
  ['pg', 'store'],
  ['hyparquet-writer', 'store'],
  ['p-retry', 'api'],
  ['oauth4webapi', 'api'],
  ['https-proxy-agent', 'api'],
  ['proxy-from-env', 'api'],
  ['fastify', 'http'],
  ['node-cron', 'schedule'],
  ['standardwebhooks', 'notify'],
  ['prom-client', 'admin'],
  ['uplot', 'admin'],
  ['idiomorph', 'admin'],
  ['cli-progress', 'cmd'],
  ['commander', 'cmd'],
  ['string-width', 'cmd'],
  ['pino', 'domain'],
  ['pino-pretty', 'domain'],
  ['yaml', 'settings'],
  ['zod', 'settings'],
]);

/** Every import of ours that `forbidden` objects to, as `from → to`. */
function imports(forbidden: (from: string, to: string) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((to) => forbidden(path, to)).map((to) => `${path} → ${to}`),
  );
}

describe('the layout', () => {
  it('has every file in a folder that belongs to a layer', () => {
    expect(files.filter(({ path }) => layerOf(path) < 0).map(({ path }) => path)).toEqual([]);
  });

  it('imports from lower layers or the same area: never up, never sideways', () => {
    const isRefused = (from: string, to: string): boolean =>
      areaOf(from) !== areaOf(to) && layerOf(to) >= layerOf(from);
    expect(imports(isRefused)).toEqual([]);
  });

  it('has no circular imports between folders', () => {
    expect(circleAmong(foldersOf(files))).toBeUndefined();
  });

  it('has no circular imports between the folders of tests', () => {
    const isShared = ({ path }: { readonly path: string }): boolean => !path.startsWith('test/support/');
    expect(circleAmong(foldersOf(tests.filter(isShared)))).toBeUndefined();
  });

  it('has every unit test at the path of what it tests', () => {
    const sources = new Set(files.flatMap(({ path }) => [path, `${dirname(path)}.ts`]));
    const units = tests.map(({ path }) => path).filter((path) => path.startsWith('test/unit/'));
    const tested = (path: string): string =>
      join('src', dirname(path).slice('test/unit/'.length), `${basename(path).split('.', 1)[0]!}.ts`);
    expect(units.filter((path) => !sources.has(tested(path)))).toEqual([]);
  });

  it('has no circular imports, not even of types', () => {
    expect(circleAmong(files)).toBeUndefined();
  });

  it('keeps the sandbox an independent reading of the reference', () => {
    expect(imports((from, to) => areaOf(from) === 'sandbox' && ['api', 'store'].includes(areaOf(to)))).toEqual([]);
  });

  it('is tested beside a second service that shares no file with it, nor with the sandbox', () => {
    const second = tests.filter(({ path }) => path.startsWith('test/second-service/service/'));
    const own = new Set(second.map(({ path }) => path));
    expect(own.size).toBeGreaterThan(0);
    expect(second.flatMap(({ imports }) => imports.filter((to) => !own.has(to)))).toEqual([]);
  });

  it('imports the sandbox only in commands, wiring and tests', () => {
    const allowed = ['sandbox', 'app', 'cmd'];
    expect(imports((from, to) => areaOf(to) === 'sandbox' && !allowed.includes(areaOf(from)))).toEqual([]);
  });

  it('imports only files of its own tree', () => {
    const known = new Set(files.map(({ path }) => path));
    expect(imports((_, to) => !known.has(to))).toEqual([]);
  });

  it('imports each package in one area only', () => {
    const strays = files.flatMap(({ path, packages }) =>
      packages
        .filter((name) => !name.startsWith('node:') && knownTo.get(name) !== areaOf(path))
        .map((name) => `${path} → ${name}`),
    );
    expect(strays).toEqual([]);
  });

  it('compares secrets in constant time', () => {
    const equalities = new Set([
      ts.SyntaxKind.EqualsEqualsToken,
      ts.SyntaxKind.EqualsEqualsEqualsToken,
      ts.SyntaxKind.ExclamationEqualsToken,
      ts.SyntaxKind.ExclamationEqualsEqualsToken,
    ]);
    const isSecret = (node: ts.Node): boolean => /\.reveal\(\)|^(given|secret|token)$/.test(node.getText());
    const isEmpty = (node: ts.Node): boolean => /^(undefined|null|''|"")$/.test(node.getText());
    const strays = files
      .filter(({ path }) => /^src\/(webhook|admin)\//.test(path))
      .flatMap((file) =>
        collect(file, (node) => {
          if (!ts.isBinaryExpression(node) || !equalities.has(node.operatorToken.kind)) return undefined;
          const sides = [node.left, node.right];
          return sides.some(isSecret) && !sides.some(isEmpty) ? `${file.path}: ${node.getText()}` : undefined;
        }),
      );
    expect(strays).toEqual([]);
  });

  it('does no input or output in the domain', () => {
    const outside = new Set(['fs', 'net', 'http', 'https', 'dns', 'tls', 'child_process', 'worker_threads']);
    const strays = files
      .filter(({ path }) => areaOf(path) === 'domain')
      .flatMap(({ path, packages }) =>
        packages.filter((name) => outside.has(name.replace('node:', ''))).map((name) => `${path} → ${name}`),
      );
    expect(strays).toEqual([]);
  });

  it.each(['mirror', 'secrets', 'postgres-sink'])(
    'numbers the migrations of the %s from 1, each once, in order',
    (folder) => {
      const numbers = readMigrations(join(migrations, folder)).map(({ number }) => number);
      expect(numbers[0]).toBe(1);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    },
  );

  it('opens transactions in store/ alone', () => {
    const others = files.filter(({ path }) => areaOf(path) !== 'store');
    expect(others.flatMap((file) => collect(file, transaction))).toEqual([]);
    // The search finds them where they are.
    expect(files.flatMap((file) => collect(file, transaction))).not.toEqual([]);
  });

  it('touches the table `runs` in one file', () => {
    const touches =
      /\b(FROM|JOIN|INTO|UPDATE)\s+runs\b|(selectFrom|insertInto|updateTable|deleteFrom|[jJ]oin)\('runs\b/;
    const touching = files.filter(({ path }) => touches.test(readFileSync(path, 'utf8'))).map(({ path }) => path);
    expect(touching).toEqual(['src/store/runs.ts']);
  });

  it('names the columns that it reads, and quotes names with capital letters', () => {
    // A whole view is copied there, and what PostgreSQL makes of lists.
    const others = ['src/store/export/export-rows.ts', 'src/store/sink/tables.ts', 'src/store/sink/sink.ts'];
    const unnamed = /\bselectAll\(|\bSELECT (\w+\.)?\*|, \w+\.\*|\bAS [a-z]+[A-Z]/;
    const found = files.filter(({ path }) => areaOf(path) === 'store' && unnamed.test(readFileSync(path, 'utf8')));
    expect(found.map(({ path }) => path).filter((path) => !others.includes(path))).toEqual([]);
    expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining(others));
  });

  it('uses no database connection above the store: reports get a snapshot of the mirror', () => {
    const connections = ['src/store/sqlite/database.ts', 'src/store/sqlite/driver.ts'];
    expect(imports((from, to) => areaOf(from) !== 'store' && connections.includes(to))).toEqual([]);
    const opened = (node: ts.Node): string | undefined =>
      ts.isPropertyAccessExpression(node) && /(^|\.)(snapshot|sqlite)$/.test(node.expression.getText())
        ? placeOf(node)
        : undefined;
    const above = files.filter(({ path }) => areaOf(path) !== 'store');
    expect(above.flatMap((file) => collect(file, opened))).toEqual([]);
  });

  it('writes SQL in one way, or says at the top of the file why not', () => {
    const way = 'src/store/sql/statement.ts';
    const prepares = (file: (typeof files)[number]): boolean =>
      collect(file, (node) => (isCallOf(node, ['prepare']) ? node.getText() : undefined)).length > 0;
    const preparing = files.filter(prepares);
    expect(preparing.map(({ path }) => path)).toContain(way);
    const head = (path: string): string => /^\/\*\*.*?\*\//s.exec(readFileSync(path, 'utf8'))?.[0] ?? '';
    const others = preparing.filter(({ path }) => path !== way && !head(path).includes('`prepare`'));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('awaits neither a clock nor another transaction inside a transaction', () => {
    const begins = (node: ts.Node): boolean =>
      isCallOf(node, ['write', 'writeWithoutSync', 'read', 'retryWhileLocked']) &&
      ts.isPropertyAccessExpression(node.expression) &&
      /database$/i.test(node.expression.expression.getText());
    const waits = /^(sleep|sleptThrough|yield|timer|fetch|setTimeout|setImmediate|race)$/;
    const inside = (node: ts.Node): string | undefined => {
      if (!ts.isCallExpression(node)) return undefined;
      const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      if (!waits.test(name.getText()) && !begins(node)) return undefined;
      for (let at = node.parent; !ts.isSourceFile(at); at = at.parent)
        if (ts.isArrowFunction(at) && begins(at.parent)) return placeOf(node);
      return undefined;
    };
    expect(files.filter(({ path }) => areaOf(path) === 'store').flatMap((file) => collect(file, inside))).toEqual([]);
  });

  it('sends what needs no result, and lets no statement run unawaited', () => {
    const left = /\bvoid [\w.#]+\.(run|get|all)\(/;
    const operations = files.filter(({ path }) => areaOf(path) === 'store' && !path.includes('/sqlite/'));
    expect(operations.filter(({ path }) => left.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  it('names no file or folder utils, helpers, common, types and the like', () => {
    const drawer = /(^|\/)(utils?|helpers?|common|types|models?|lib|interfaces|misc)(\.|\/|$)/;
    const named = [...files, ...tests].map(({ path }) => path);
    expect(named.filter((path) => drawer.test(path))).toEqual([]);
  });

  it('has no other files at the top of the repository', () => {
    const allowed = [
      '.ci',
      '.config',
      '.editorconfig',
      '.gitignore',
      '.prettierignore',
      '.prettierrc.json',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'config',
      'eslint.config.js',
      'knip.json',
      'migrations',
      'package-lock.json',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
      'vitest.config.ts',
    ];
    expect(topLevel().filter((name) => !allowed.includes(name))).toEqual([]);
  });
});

/** Where a node opens or ends a transaction: a call of the driver's, or SQL that does it. */
function transaction(node: ts.Node): string | undefined {
  const isSql =
    ts.isStringLiteralLike(node) &&
    /^\s*(begin( immediate| exclusive| deferred)?|commit|rollback|savepoint .*)\s*;?\s*$/i.test(node.text);
  return isSql || isCallOf(node, ['transaction', 'savepoint'])
    ? `${node.getSourceFile().fileName}: ${node.getText()}`
    : undefined;
}

/** Folders as if each were a file that imports the other folders that its files import. */
function foldersOf(tree: readonly { readonly path: string; readonly imports: readonly string[] }[]): {
  path: string;
  imports: string[];
}[] {
  const folders = new Map<string, Set<string>>();
  for (const { path, imports } of tree) {
    const known = folders.get(dirname(path)) ?? new Set();
    for (const to of imports) if (dirname(to) !== dirname(path)) known.add(dirname(to));
    folders.set(dirname(path), known);
  }
  return [...folders].map(([path, imports]) => ({ path, imports: [...imports] }));
}

function placeOf(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

function isCallOf(node: ts.Node, methods: readonly string[]): node is ts.CallExpression {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    methods.includes(node.expression.name.text)
  );
}
