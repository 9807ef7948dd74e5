/**
 * Lets Node run this project's TypeScript as it stands: types are blanked out file by file. For development only.
 *
 * PLANTED holds, as JSON, a list of `{file, search, replace}`: text that is put in place of other text as a file is loaded, which is
 * how a test plants a fault without touching the source.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import ts from 'typescript';

if (isMainThread) register(import.meta.url);

const planted = JSON.parse(process.env.PLANTED ?? '[]');
const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  inlineSourceMap: true,
};

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  let text = await readFile(path, 'utf8');
  for (const { file, search, replace } of planted)
    if (path.endsWith(file)) {
      if (text.split(search).length !== 2) throw new Error(`${file} does not hold this once: ${search}`);
      text = text.replace(search, () => replace);
    }
  const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions });
  return { format: 'module', source: outputText, shortCircuit: true };
}
