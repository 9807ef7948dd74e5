/** What `npm run build` compiles besides the program: what pages load in the browser, and the thread of their figures. */
import { join } from 'node:path';
import type { CompiledParts } from '../../src/app/daemon.ts';
import { packageRoot } from './mirror-file.ts';

export const compiled: CompiledParts = {
  pages: join(packageRoot, 'dist/page'),
  figures: join(packageRoot, 'dist/cmd/figures.js'),
};
