/**
 * Lets Node run this project's TypeScript as it stands: types are blanked out file by file, once for each text. For development only.
 *
 * A module that is imported with `?planted=` and a list of `{search, replace}` as JSON is loaded anew, with all that it imports, and
 * that text in place of the other: this is how a test plants a fault without touching the source.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const source = join(import.meta.dirname, '../src/');
const cache = join(import.meta.dirname, '../node_modules/.cache/typescript-loader');

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  const { search } = new URL(context.parentURL ?? resolved.url);
  return search !== '' && resolved.url.endsWith('.ts') ? { ...resolved, url: resolved.url + search } : resolved;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const { protocol, pathname, searchParams } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const planted = path.startsWith(source) ? JSON.parse(searchParams.get('planted') ?? '[]') : [];
  let text = await readFile(path, 'utf8');
  for (const { search, replace } of planted) text = text.replace(search, () => replace);
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
