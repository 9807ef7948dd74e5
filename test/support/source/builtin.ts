/** Functions of Node.js itself that give way in a test. */
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** Replaces a function of a module of Node.js, given by its default export, for everybody who imports it, until the test has ended. */
export function replaceBuiltin<Module extends object, Name extends keyof Module>(
  module: Module,
  name: Name,
  replace: (original: Module[Name]) => Module[Name],
): void {
  const original = module[name];
  module[name] = replace(original);
  syncBuiltinESMExports();
  onTestFinished(() => {
    module[name] = original;
    syncBuiltinESMExports();
  });
}
