/**
 * Compiles the program into `dist`. The packages that npm installs with it are loaded from where npm put them. Three are compiled in,
 * because nearly every command starts by reading the settings and opening the mirror, and these three are 480 files to find: `kysely`, `yaml`
 * and `zod`.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'rolldown';
import ts from 'typescript';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const installed = Object.keys(dependencies);
const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`));

await build({
  input: {
    main: 'src/cmd/main.ts',
    figures: 'src/store/reports/figures-program.ts',
    exports: 'src/store/export/export-program.ts',
  },
  platform: 'node',
  external: isInstalled,
  output: { dir: 'dist/cmd', cleanDir: true, chunkFileNames: '[name].js' },
  logLevel: 'warn',
});

/** What other programs import. It is compiled by itself, so that nothing of the program is loaded with it. */
const reader = 'src/reader';
await build({
  input: `${reader}/index.ts`,
  platform: 'node',
  external: isInstalled,
  output: { dir: 'dist/reader', cleanDir: true, chunkFileNames: '[name].js' },
  logLevel: 'warn',
});
for (const name of readdirSync(reader)) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(`${reader}/${name}`, 'utf8'), {
    fileName: name,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, rewriteRelativeImportExtensions: true, stripInternal: true },
  });
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
  const declared = outputText.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
  writeFileSync(`dist/reader/${name.replace(/ts$/, 'd.ts')}`, declared);
}

/** What the operator's page loads in the browser. */
const page = 'src/admin/page/browser';
await build({
  input: `${page}/page.ts`,
  platform: 'browser',
  tsconfig: `${page}/tsconfig.json`,
  output: { dir: 'dist/page', cleanDir: true, minify: true },
  logLevel: 'warn',
});
const { resolve } = createRequire(import.meta.url);
const charts = readFileSync(resolve('uplot/dist/uPlot.min.css'), 'utf8');
writeFileSync('dist/page/page.css', charts + readFileSync(`${page}/page.css`, 'utf8'));
copyFileSync(`${page}/icon.svg`, 'dist/page/icon.svg');
