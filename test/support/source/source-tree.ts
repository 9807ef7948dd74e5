/** The source as the architecture sees it: files, what they import, and what stands in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { packageRoot } from '../mirror-file.ts';

export interface SourceFile {
  /** From the root of the repository, as in `src/store/runs.ts`. */
  readonly path: string;
  readonly text: string;
  /** Files of ours that it imports, types included, by their paths. */
  readonly imports: readonly string[];
  /** Packages that it imports, node's own as `node:…`. */
  readonly packages: readonly string[];
}

/** Every TypeScript file below `folder`. */
export function sourceTree(folder: string): SourceFile[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readSource(join(folder, name)));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const named = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const isOurs = (name: string): boolean => name.startsWith('.');
  return {
    path,
    text,
    imports: named.filter(isOurs).map((name) => normalize(join(dirname(path), name))),
    packages: named.filter((name) => !isOurs(name)).map(packageOf),
  };
}

/** `pino` of `pino/file`, `@scope/name` of `@scope/name/file`. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

const trees = new Map<string, ts.SourceFile>();

/** Every node of a file's syntax tree that `select` makes something of. */
export function collect<T>({ path, text }: SourceFile, select: (node: ts.Node) => T | undefined): T[] {
  const found: T[] = [];
  const visit = (node: ts.Node): void => {
    const chosen = select(node);
    if (chosen !== undefined) found.push(chosen);
    ts.forEachChild(node, visit);
  };
  const tree = trees.get(path) ?? ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  trees.set(path, tree);
  visit(tree);
  return found;
}

/** A circle of imports, as the paths along it; undefined where there is none. */
export function circleAmong(files: readonly Pick<SourceFile, 'path' | 'imports'>[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const follow = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of byPath.get(path)?.imports ?? []) {
      const circle = follow(next, [...trail, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of files) {
    const circle = follow(path, []);
    if (circle) return circle;
  }
  return undefined;
}

/** What stands at the top of the repository, without what tools leave there. */
export function topLevel(): string[] {
  const left = new Set(['.git', 'node_modules', 'dist', 'data', 'coverage']);
  return readdirSync(packageRoot)
    .filter((name) => !left.has(name) && !name.endsWith('.tgz'))
    .sort();
}
