import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What is replaced in these for the whole process would be met by others. */
const alone = ['test/store/file-systems.test.ts'];

/** The longest file begins first: others fill the time beside it, and nobody waits for it at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): number => Number(moduleId.endsWith('simulation.test.ts'));
    return (await super.sort(files)).sort((one, other) => isLongest(other) - isLongest(one));
  }
}

export default defineConfig({
  test: {
    environment: 'node',
    // Only against hanging: no test is about its own time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
