/** Every hazard of HAZARDS.md is shown by a test that bears its id, in the files that stand beside it. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { collect, sourceTree, type SourceFile } from './support/source/source-tree.ts';

/** Tests of the sandbox prove that it can be as bad as the service, and nothing of the defence. */
const tests = sourceTree('test').filter(
  ({ path }) => path.endsWith('.test.ts') && !path.startsWith('test/unit/sandbox/'),
);

const declares = /^(describe|it|test)\b(?!\.(skip|todo)\b)/;

/** What a test or a suite is called: every text in its first argument, and in the rows of `each`, which may be the title's. */
function titlesOf(file: SourceFile): string[] {
  return collect(file, (node) => {
    if (!ts.isCallExpression(node) || !declares.test(node.expression.getText())) return undefined;
    const isTable = ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'each';
    return textsIn(isTable ? node : node.arguments[0]);
  }).flat();
}

/** The literal parts of texts below a node; a template's and a table's too. */
function textsIn(node: ts.Node | undefined): string[] {
  if (!node) return [];
  const own = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  const inner: string[] = [];
  ts.forEachChild(node, (child) => void inner.push(...textsIn(child)));
  return own ? [node.text, ...inner] : inner;
}

/** An id stands by itself, as in `A10 F2 leaves …`; not as in `%C3` or `/A9`. */
function idsIn(title: string): string[] {
  return [...title.matchAll(/(?<![\w%/.-])[A-FHJKL]\d{1,3}(?![\w-])/g)].map(([id]) => id);
}

interface Hazard {
  readonly id: string;
  /** Paths of tests, from this folder. */
  readonly files: readonly string[];
}

const hazards: readonly Hazard[] = readFileSync(new URL('HAZARDS.md', import.meta.url), 'utf8')
  .split(/^(?=- \*\*)/m)
  .slice(1)
  .map((entry) => {
    const [, id, shownBy] = /^- \*\*([A-L]\d+)\*\* \S.+\n {2}- \S.+\n {2}- (`.+`)\n/.exec(entry) ?? [];
    if (id === undefined || shownBy === undefined) throw new Error(`not a hazard, its defence and its tests: ${entry}`);
    return { id, files: [...shownBy.matchAll(/`(.+?)`/g)].map(([, file]) => file!) };
  });

const idsOfFile = new Map(tests.map((file) => [file.path, new Set(titlesOf(file).flatMap(idsIn))]));

describe('the hazards', () => {
  it('are listed once each, in order, numbered without gaps but for family L, which is not listed whole yet', () => {
    const ids = hazards.map(({ id }) => id);
    for (const family of new Set(ids.map((id) => id.charAt(0)))) {
      const members = ids.filter((id) => id.startsWith(family));
      const numbers = members.map((id) => Number(id.slice(1)));
      expect(numbers).toEqual(
        family === 'L' ? [...new Set(numbers)].sort((a, b) => a - b) : numbers.map((_, index) => index + 1),
      );
    }
  });

  it.each(hazards)('$id is shown by a test in each file that the list names', ({ id, files }) => {
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect([...(idsOfFile.get(`test/${file}`) ?? [])], file).toContain(id);
  });

  it('are all listed: no test title has an id that is not in the list', () => {
    const listed = new Set(hazards.map(({ id }) => id));
    expect([...idsOfFile.values()].flatMap((ids) => [...ids]).filter((id) => !listed.has(id))).toEqual([]);
  });
});
