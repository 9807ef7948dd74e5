/** The count of hazards: each is proven by a test that bears its id, or excused by name. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { excused, hazards } from './hazards.ts';
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
  return [...title.matchAll(/(?<![\w%/.-])[A-FHJK]\d{1,2}(?![\w-])/g)].map(([id]) => id);
}

const proven = new Set(tests.flatMap(titlesOf).flatMap(idsIn));

describe('the hazards', () => {
  it.each(hazards.filter((id) => !(id in excused)))('%s is proven by a test that says so', (id) => {
    expect(proven).toContain(id);
  });

  it.each(Object.keys(excused))('%s is excused, and truly without a test', (id) => {
    expect(hazards).toContain(id);
    expect(proven).not.toContain(id);
  });

  it('are all there are: no title bears an id that nobody knows', () => {
    expect([...proven].filter((id) => !hazards.includes(id))).toEqual([]);
  });
});
