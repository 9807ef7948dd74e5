/**
 * Compiles the program into `dist`. The packages that npm installs with it are loaded from where npm put them. Two are compiled in,
 * because nearly every command starts by reading the settings, and these two are 180 files to find: `bundled` below.
 */
import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const installed = Object.keys(dependencies);

await build({
  input: 'src/cmd/main.ts',
  platform: 'node',
  external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
  output: { dir: 'dist/cmd', cleanDir: true, chunkFileNames: '[name].js' },
  logLevel: 'warn',
});
