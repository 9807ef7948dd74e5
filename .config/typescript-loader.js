/**
 * Lets Node run this project's TypeScript as it stands: types are blanked out file by file, once for each text. For development only.
 *
 * PLANTED holds, as JSON, a list of `{search, replace}`: text that is put in place of other text as the source is loaded, which is how a
 * test plants a fault without touching it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const planted = JSON.parse(process.env.PLANTED ?? '[]');
const source = join(import.meta.dirname, '../src/');
const cache = join(import.meta.dirname, '../node_modules/.cache/typescript-loader');

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  let text = await readFile(path, 'utf8');
  for (const { search, replace } of planted) if (path.startsWith(source)) text = text.replace(search, () => replace);
  const kept = join(cache, `${createHash('sha256').update(path).update(text).digest('hex')}.js`);
  const blanked = await readFile(kept, 'utf8').catch(() => blank(path, text, kept));
  return { format: 'module', source: blanked, shortCircuit: true };
}

async function blank(path, text, kept) {
  const { default: ts } = await import('typescript');
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    inlineSourceMap: true,
  };
  const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions });
  await mkdir(cache, { recursive: true });
  const draft = `${kept}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, outputText);
  await rename(draft, kept);
  return outputText;
}
