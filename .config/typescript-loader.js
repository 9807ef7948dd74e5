/**
 * Lets Node run this project's TypeScript as it stands: types are taken out file by file. For development only.
 *
 * A module that is imported with `?planted=` and a list of `{search, replace}` as JSON is loaded anew, with all that it imports, and
 * that text in place of the other: this is how a test plants a fault without touching the source.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transformSync } from 'rolldown/utils';

if (isMainThread) register(import.meta.url);

const source = join(import.meta.dirname, '../src/');

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
  // In a tagged template the transformer takes this for the end of the page it is part of, and asks for a helper that is not here.
  const { code, errors } = transformSync(path, text.replaceAll('</script', '<\\/script'));
  if (errors.length > 0) throw new SyntaxError(errors[0].message);
  return { format: 'module', source: code, shortCircuit: true };
}
