/** The tests of one subject, as a run of mutations asks for them: without the build, which would compile the mutants. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    include: (process.env['MUTATION_TESTS'] ?? '').split(' '),
    // A change of what a module makes when it is loaded is only tried by loading it anew.
    isolate: true,
    restoreMocks: true,
    testTimeout: 180_000,
  },
});
