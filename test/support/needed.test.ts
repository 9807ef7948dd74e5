import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { packageRoot } from './mirror-file.ts';
import { isMissing } from './needed.ts';
import { collect, sourceTree } from './source/source-tree.ts';

it('what a test needs may be missing, but not in CI', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('CI', '');
  expect([isMissing(undefined), isMissing('there is no Python')]).toEqual([false, true]);
  vi.stubEnv('CI', 'true');
  expect(isMissing(undefined)).toBe(false);
  expect(() => isMissing('there is no Python')).toThrow('In CI no test may be skipped: there is no Python.');
});

/** All but this one, which names what it looks for. */
const tests = sourceTree('test').filter(
  ({ path }) => path.endsWith('.test.ts') && path !== 'test/support/needed.test.ts',
);

describe('every test', () => {
  it('that is skipped asks isMissing first, so that it fails in CI; none is skipped for good, or runs alone', () => {
    const found = tests.flatMap((file) =>
      collect(file, (node) => {
        if (!ts.isPropertyAccessExpression(node) || !/^(describe|it|test|suite)\b/.test(node.expression.getText()))
          return undefined;
        const where = `${file.path}: ${node.getText()}`;
        if (['skip', 'todo', 'only', 'fails'].includes(node.name.text)) return where;
        const [condition] = ts.isCallExpression(node.parent) ? node.parent.arguments : [];
        return node.name.text === 'skipIf' && condition?.getText().startsWith('isMissing(') !== true
          ? where
          : undefined;
      }),
    );
    expect(found).toEqual([]);
  });

  it('that is skipped is so by skipIf alone: neither by its context nor by an option', () => {
    const found = tests.flatMap((file) =>
      collect(file, (node) => {
        const byContext =
          ts.isCallExpression(node) &&
          /(^|\.)skip$/.test(node.expression.getText()) &&
          !/^(describe|it|test|suite)\b/.test(node.expression.getText());
        const byOption = ts.isPropertyAssignment(node) && /^(skip|todo|only)$/.test(node.name.getText());
        return byContext || byOption ? `${file.path}: ${node.getText()}` : undefined;
      }),
    );
    expect(found).toEqual([]);
  });

  it('that does not run each time takes minutes, and is one of these', () => {
    const conditional = tests.filter(({ text }) => text.includes('.runIf(')).map(({ path }) => path);
    expect(conditional.sort()).toEqual(['test/process/serve/serve-nightly.test.ts', 'test/process/serve/soak.test.ts']);
  });

  it('that replaces a module runs alone: others in its process may have loaded that module already', () => {
    const config = readFileSync(join(packageRoot, 'vitest.config.ts'), 'utf8');
    const [, alone = ''] = /^const alone = \[(.*?)\];/ms.exec(config) ?? [];
    const replacing = tests.filter(({ text }) => /\bvi\.(do)?[mM]ock\(/.test(text));
    expect(replacing.map(({ path }) => path).filter((path) => !alone.includes(`'${path}'`))).toEqual([]);
  });

  it('that runs the compiled program has it built first where a source is newer', () => {
    const careless = tests
      .filter(
        ({ imports, text }) =>
          // What stands behind a scope is of a package of other people.
          imports.some((path) => /\/(programs?|build)\.ts$/.test(path)) || /(?<!@\S+\/)dist\//.test(text),
      )
      // The testbed of a program builds it.
      .filter(({ text }) => !/beforeAll\(build\)|\bbuild\(\)|level: 'program'/.test(text));
    expect(careless.map(({ path }) => path)).toEqual([]);
  });
});
