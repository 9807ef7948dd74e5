import { defineConfig } from 'vitest/config';

/** What is replaced in these for the whole process would be met by others. */
const alone = ['test/store/file-systems.test.ts'];

/** These keep every core busy by themselves, and are measured. */
const first = ['test/simulation/simulation.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    // Only against hanging: no test is about its own time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: 'first', include: first, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: [...first, ...alone], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
