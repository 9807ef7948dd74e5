/** The plan of the house (DESIGN 3), held against every file. */
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readMigrations } from '../src/store/migrate.ts';
import { migrations } from './mirror-file.ts';
import { circleAmong, collect, sourceTree, topLevel } from './source-tree.ts';

const files = sourceTree('src');

/** What ties engines and doors together. */
const wiring = new Set([
  'account-desk.ts',
  'account-services.ts',
  'chores.ts',
  'daemon.ts',
  'health-facts.ts',
  'installation.ts',
  'integrity-check.ts',
]);

/** Where a file lives: a folder, or a door or engine that is a file of its own. */
function roomOf(path: string): string {
  const [, place = '', ...inside] = path.split('/');
  if (inside.length > 0) return `${place}/`;
  if (place === 'config.ts' || place.startsWith('settings-')) return 'settings';
  if (wiring.has(place)) return 'wiring';
  return place.startsWith('http') ? 'http.ts' : place;
}

const floors = new Map([
  ['api/', 1],
  ['store/', 1],
  ['http.ts', 1],
  ['scheduler.ts', 1],
  ['sync/', 2],
  ['webhook/', 2],
  ['admin/', 2],
  ['sandbox/', 2],
  ['wiring', 3],
  ['cmd/', 4],
]);

/** Words, which stand at the root of src, are floor 0. */
function floorOf(path: string): number {
  return floors.get(roomOf(path)) ?? 0;
}

/** Each package is known to one room. */
const rooms = new Map([
  ['better-sqlite3', 'store/'],
  ['kysely', 'store/'],
  ['csv-stringify', 'store/'],
  ['p-retry', 'api/'],
  ['oauth4webapi', 'api/'],
  ['fastify', 'http.ts'],
  ['node-cron', 'scheduler.ts'],
  ['prom-client', 'admin/'],
  ['cli-progress', 'cmd/'],
  ['commander', 'cmd/'],
  ['string-width', 'cmd/'],
  ['undici', 'cmd/'],
  ['pino', 'log.ts'],
  ['pino-pretty', 'log.ts'],
  ['yaml', 'settings'],
  ['zod', 'settings'],
]);

/** Every import of ours that `forbidden` objects to, as `from → to`. */
function imports(forbidden: (from: string, to: string) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((to) => forbidden(path, to)).map((to) => `${path} → ${to}`),
  );
}

describe('the house', () => {
  it('has every folder on a floor', () => {
    const folders = files.map(({ path }) => roomOf(path)).filter((room) => room.endsWith('/'));
    expect(folders.filter((room) => !floors.has(room))).toEqual([]);
  });

  it('imports from lower floors or its own room: never up, never from a neighbour', () => {
    const isRefused = (from: string, to: string): boolean =>
      floorOf(to) > floorOf(from) || (floorOf(to) === floorOf(from) && roomOf(to) !== roomOf(from) && floorOf(to) > 0);
    expect(imports(isRefused)).toEqual([]);
  });

  it('knows no circles, types included', () => {
    expect(circleAmong(files)).toBeUndefined();
  });

  it('keeps the sandbox an independent reading of the reference', () => {
    expect(imports((from, to) => roomOf(from) === 'sandbox/' && /^src\/(api|store)\//.test(to))).toEqual([]);
  });

  it('shows the sandbox to commands and tests alone', () => {
    expect(
      imports((from, to) => roomOf(to) === 'sandbox/' && roomOf(from) !== 'sandbox/' && roomOf(from) !== 'cmd/'),
    ).toEqual([]);
  });

  it('imports only files of its own tree', () => {
    const known = new Set(files.map(({ path }) => path));
    expect(imports((_, to) => !known.has(to))).toEqual([]);
  });

  it('knows each package in one room', () => {
    const strays = files.flatMap(({ path, packages }) =>
      packages
        .filter((name) => !name.startsWith('node:') && rooms.get(name) !== roomOf(path))
        .map((name) => `${path} → ${name}`),
    );
    expect(strays).toEqual([]);
  });

  it('compares no secret in a time that tells where it differs', () => {
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

  it('does no input or output on floor 0', () => {
    const doors = new Set(['fs', 'net', 'http', 'https', 'dns', 'tls', 'child_process', 'worker_threads']);
    const strays = files
      .filter(({ path }) => floorOf(path) === 0)
      .flatMap(({ path, packages }) =>
        packages.filter((name) => doors.has(name.replace('node:', ''))).map((name) => `${path} → ${name}`),
      );
    expect(strays).toEqual([]);
  });

  it.each(['mirror', 'secrets'])('numbers the migrations of the %s from 1, each once', (folder) => {
    const numbers = readMigrations(join(migrations, folder)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('opens transactions in store/ alone', () => {
    const others = files.filter(({ path }) => roomOf(path) !== 'store/');
    expect(others.flatMap((file) => collect(file, transaction))).toEqual([]);
    // The search finds them where they are.
    expect(files.flatMap((file) => collect(file, transaction))).not.toEqual([]);
  });

  it('awaits nothing inside a transaction', () => {
    const inside = (node: ts.Node): string | undefined =>
      isCallOf(node, ['write', 'read', 'transaction']) &&
      node.arguments.some((argument) => ts.isArrowFunction(argument) && isAsync(argument))
        ? node.getText()
        : undefined;
    expect(files.filter(({ path }) => roomOf(path) === 'store/').flatMap((file) => collect(file, inside))).toEqual([]);
  });

  it('says one idea a file', () => {
    expect(files.filter(({ lines }) => lines > 250).map(({ path, lines }) => `${path}: ${lines} lines`)).toEqual([]);
  });

  it('has no drawers', () => {
    const drawer = /(^|\/)(utils?|helpers?|common|types|models?|lib|interfaces|misc)(\.|\/|$)/;
    const named = [...files, ...sourceTree('test')].map(({ path }) => path);
    expect(named.filter((path) => drawer.test(path))).toEqual([]);
  });

  it('holds nothing else at the top of the repository', () => {
    const allowed = [
      '.ci',
      '.config',
      '.editorconfig',
      '.gitignore',
      '.prettierignore',
      '.prettierrc.json',
      'LICENSE',
      'README.md',
      'config',
      'migrations',
      'package-lock.json',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
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

function isAsync({ modifiers }: ts.ArrowFunction): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
}

function isCallOf(node: ts.Node, methods: readonly string[]): node is ts.CallExpression {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    methods.includes(node.expression.name.text)
  );
}
