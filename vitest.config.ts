import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What is replaced in these for the whole process would be met by others. */
const alone = ['test/unit/cmd/doctor/doctor.faults.test.ts', 'test/unit/store/sqlite/file-systems.test.ts'];

/** These keep every core busy by themselves, and are measured. */
const first = ['test/simulation/simulation.test.ts'];

/** These take longest, the longest first. */
const long = [
  'test/process/kills/serve-kill.test.ts',
  'test/simulation/planted-faults.test.ts',
  'test/power/power-loss.test.ts',
  'test/power/kill-points.test.ts',
  'test/process/kills/kill.test.ts',
  'test/power/io-errors.test.ts',
  'test/integration/sync/churn.test.ts',
  'test/bench/bench.test.ts',
  'test/chromium/page.test.ts',
  'test/process/commands/sandbox.test.ts',
  'test/unit/sync/run/sweep-run.ten-thousand.test.ts',
  'test/process/serve/bounds.test.ts',
  'test/hostile/network.test.ts',
  'test/process/drills/drills.test.ts',
];

/** `npm run test:quick` leaves these out: each takes seconds, those of the commands together half a minute. */
const slow = [
  'test/unit/admin/api/vendors-api.test.ts',
  'test/unit/app/background/publications.test.ts',
  'test/unit/cmd/**',
  'test/unit/http/server.test.ts',
  'test/unit/notify/target-sender.test.ts',
  'test/unit/reader/mirror.test.ts',
  'test/unit/settings/yaml.test.ts',
  'test/unit/store/files/replace-file.test.ts',
  'test/unit/store/open/sqlite-store.views.test.ts',
  'test/unit/store/sealed-secrets/seal.test.ts',
  'test/unit/store/sqlite/migrate.every-schema.test.ts',
  'test/unit/store/sqlite/migrate.raw-once.test.ts',
  'test/unit/store/transactions/reading-writer.test.ts',
  'test/unit/store/transactions/retention.test.ts',
  'test/unit/sync/absence/absences.test.ts',
  'test/unit/sync/run/sweep-run.churn.test.ts',
  'test/unit/sync/run/sweep-run.failures.test.ts',
  'test/unit/sync/run/sweep-run.hard-services.test.ts',
  'test/unit/sync/run/sweep-run.ten-thousand.test.ts',
  'test/unit/sync/run/sweep-run.worlds.test.ts',
  'test/unit/sync/sweep/sweep.test.ts',
  'test/unit/webhook/receive/group-commit.test.ts',
  'test/unit/webhook/receive/listener.hostile-requests.test.ts',
  'test/unit/webhook/receive/listener.refusals.test.ts',
  'test/unit/webhook/receive/listener.test.ts',
  'test/unit/webhook/subscribe/own-callbacks.test.ts',
  'test/unit/webhook/subscribe/reconciler.test.ts',
  'test/unit/webhook/subscribe/subscription-manager.test.ts',
];
/** `npm run pictures` asks for these alone. */
const pictures = process.env['README_PICTURES'] === undefined ? undefined : ['test/chromium/pictures.ts'];
const isQuick = process.env['QUICK'] !== undefined;

/** Begins with what takes longest, so that no core waits at the end while another works alone. */
class LongFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = long.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place < 0 ? long.length : place;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    environment: 'node',
    // Only against hanging: no test is about its own time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Tests of processes wait for them now and then: with one more than there are cores, none is idle.
    maxWorkers: 3,
    globalSetup: 'test/support/testbed/build.ts',
    sequence: { groupOrder: 1, sequencer: LongFirst },
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: 'first', include: first, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...first, ...alone, ...(isQuick ? slow : [])],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
      // Not a test: what makes the pictures of the README uses a testbed.
      ...(pictures === undefined ? [] : [{ extends: true as const, test: { name: 'pictures', include: pictures } }]),
    ],
  },
});
