/** Compiles the program into `dist`, together with its libraries: a start has few files to find, instead of hundreds. */
import { build } from 'rolldown';

await build({
  input: 'src/cmd/main.ts',
  platform: 'node',
  // Is found beside the code that it compiled for this machine.
  external: ['better-sqlite3'],
  output: { dir: 'dist/cmd', cleanDir: true, chunkFileNames: '[name].js' },
  logLevel: 'warn',
});
