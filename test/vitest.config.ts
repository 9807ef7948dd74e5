import { defineConfig } from 'vitest/config';

/** What is replaced in these for the whole process would be met by others. */
const alone = ['test/store/file-systems.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
