/**
 * Lets Node run this project's TypeScript as it stands: types are taken out file by file. For development only.
 *
 * A module that is imported with `?planted=` is loaded anew, with all that it imports, and with a fault: that is how a test plants one
 * without touching the source. What is planted is told as JSON: the module that lists the faults, the name of one, and the exports
 * that it replaces (test/support/source/planted-fault.ts).
 */
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transformSync } from 'rolldown/utils';

// Node.js 26 warns of `register`, which older versions need. Hooks of `registerHooks` are of their thread, and their `next` is no promise.
if (module.registerHooks !== undefined) module.registerHooks({ resolve, load });
else if (isMainThread) module.register(import.meta.url);

const source = join(import.meta.dirname, '../src/');

/** @type {import('node:module').ResolveHook & import('node:module').ResolveHookSync} */
export function resolve(specifier, context, next) {
  const { parentURL } = context;
  // The file is there: Node would look for it, and take longer than all the rest.
  const isOurs = parentURL !== undefined && /^\.\.?\/.*\.ts$/.test(specifier);
  const resolved = isOurs
    ? { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
    : next(specifier, context);
  const search = parentURL?.includes('?') ? new URL(parentURL).search : '';
  const anew = (found) => (search !== '' && found.url.endsWith('.ts') ? { ...found, url: found.url + search } : found);
  return resolved instanceof Promise ? resolved.then(anew) : anew(resolved);
}

/** @type {import('node:module').LoadHook & import('node:module').LoadHookSync} */
export function load(url, context, next) {
  const { protocol, pathname, searchParams } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const code = codeOf(path);
  const planted = searchParams.get('planted');
  return { format: 'module', source: planted ? code + replacing(path, JSON.parse(planted)) : code, shortCircuit: true };
}

/** What was made of files: with each fault, all of them are loaded anew. */
const made = new Map();

function codeOf(path) {
  const known = made.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  // In a tagged template the transformer takes this for the end of the page it is part of, and asks for a helper that is not here.
  const { code, errors } = transformSync(path, text.replaceAll('</script', '<\\/script'));
  if (errors.length > 0) throw new SyntaxError(errors[0].message);
  made.set(path, code);
  return code;
}

/**
 * What follows the code of a module: an assignment for each of its functions, and of its classes' methods, that a fault replaces. The
 * module's own calls then meet the replacement, too.
 */
function replacing(path, { list, fault, targets }) {
  const own = relative(source, path);
  const assignments = targets.flatMap(({ module, name }, place) => {
    const target = name.replace('.', '.prototype.');
    return module === own ? [`${target} = replacements$[${place}].replace(${target});`] : [];
  });
  if (assignments.length === 0) return '';
  return [
    '',
    `import { plantedFaults as faults$ } from ${JSON.stringify(list)};`,
    `const { replacements: replacements$ } = faults$.find(({ name }) => name === ${JSON.stringify(fault)});`,
    ...assignments,
  ].join('\n');
}
