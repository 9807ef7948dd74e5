/** What `npm run build` compiles besides the program: what pages load in the browser, threads and processes. */
import { join } from 'node:path';
import type { CompiledParts } from '../../../src/app/daemon.ts';
import { packageRoot } from '../mirror-file.ts';

export const compiled: CompiledParts = {
  pages: join(packageRoot, 'dist/page'),
  figures: join(packageRoot, 'dist/cmd/figures.js'),
  exports: join(packageRoot, 'dist/cmd/exports.js'),
};
