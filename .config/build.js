/**
 * Compiles the program into `dist`. The packages that npm installs with it are loaded from where npm put them. Two are compiled in,
 * because nearly every command starts by reading the settings, and these two are 180 files to find: `bundled` below.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const installed = Object.keys(dependencies);

await build({
  input: { main: 'src/cmd/main.ts', figures: 'src/store/figures/thread.ts' },
  platform: 'node',
  external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
  output: { dir: 'dist/cmd', cleanDir: true, chunkFileNames: '[name].js' },
  logLevel: 'warn',
});

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
