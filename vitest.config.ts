import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What `npm test` also runs, though little of it: `FEW` makes it few worlds, sweeps and kills. */
const few = ['test/process/kills/{write-,}kill.test.ts', 'test/simulation/sweeps/sweeps.test.ts'];

/** What `npm run test:proofs` runs: days of whole installations, processes, other people's programs, kills, power losses. */
const proofs = [
  'test/{chromium,hostile,postgres,power,process,second-service,simulation}/**/*.test.ts',
  'test/integration/{accounts,files,package,people,webhooks}/**/*.test.ts',
  'test/integration/sync/{churn,states}.test.ts',
  'test/unit/store/sqlite/migrate.every-schema.test.ts',
  'test/unit/sync/run.{churn,ten-thousand}.test.ts',
];

/** Of the proofs, these keep every core busy by themselves. */
const worlds = ['test/simulation/simulation.test.ts'];

/** What else is asked of a mirror in PostgreSQL. */
const engines = [
  'test/unit/store/{derivation,findings,mirror,page-confirmations,queue,reading-writer,reading-writer.presence,readings,runs,writes}.test.ts',
  'test/unit/store/mirror.{changes,money,views}.test.ts',
  'test/unit/sync/{absences,absences.evidence,attempt,breaker,run}.test.ts',
  'test/unit/sync/run.{clocks,empty-lists,pull-gateways,unusable-records}.test.ts',
  'test/unit/sync/write/{create,edit}.test.ts',
];

/** What is asked of it only where `FULL` says so, as it takes long: whole runs, kills, bad days and planted faults, as of a mirror in files. */
const enginesFully = [
  ...engines,
  'test/unit/sync/{absences.proofs,compare.*,details.few-vendors,observation}.test.ts',
  'test/unit/sync/run.{answered-marks,counts,declined-requests,every-total,failures,hard-services,lagging-lists,last-hidden,one-broken,other-account,refuted-lists,unsteady-fields}.test.ts',
  'test/process/drills/*.test.ts',
  // Migrations of files are others.
  'test/process/kills/!(migrate-kill).test.ts',
  'test/simulation/planted-faults.test.ts',
];

/** What is replaced in these for the whole process would be met by others. */
const alone = [
  'test/integration/people/every-trouble.unable.test.ts',
  'test/unit/cmd/doctor.faults.test.ts',
  'test/unit/store/sqlite/file-systems.test.ts',
  'test/unit/store/sql/statement.columns.test.ts',
];

/** The proofs that take longest, the longest first. */
const long = [
  'test/process/drills/drills.test.ts',
  'test/integration/package/installed-package.test.ts',
  'test/chromium/page.test.ts',
  'test/simulation/planted-faults.test.ts',
  'test/second-service/second-service.test.ts',
  'test/postgres/several.test.ts',
  'test/chromium/states.test.ts',
  'test/power/kill-points.test.ts',
  'test/integration/package/container.test.ts',
  'test/power/io-errors.test.ts',
  'test/hostile/strangers-page.test.ts',
  'test/postgres/copy.test.ts',
  'test/postgres/sink.test.ts',
  'test/process/commands/sandbox.test.ts',
  'test/hostile/public-address.test.ts',
  'test/process/serve/serve.test.ts',
  'test/postgres/forget.test.ts',
  'test/hostile/network.test.ts',
];

/**
 * Begins with what takes longest, so that no core waits at the end while another works alone; then project by project, because a worker
 * that goes over to another one loads all modules again.
 */
class LongFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = long.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place < 0 ? long.length : place;
    };
    return sorted.sort((a, b) => rank(a) - rank(b) || a.project.name.localeCompare(b.project.name));
  }
}

/** `npm run pictures` asks for these alone. */
const pictures = process.env['README_PICTURES'] === undefined ? undefined : ['test/chromium/pictures.ts'];

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
      { extends: true, test: { name: 'worlds', include: worlds, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...worlds, ...proofs, ...alone],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'proofs',
          include: process.env['FEW'] ? few : proofs,
          exclude: [...worlds, ...alone],
          isolate: false,
        },
      },
      ...(process.env['FEW']
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'postgres',
                include: process.env['FULL'] ? enginesFully : engines,
                isolate: false,
                globalSetup: 'test/support/postgres-engine.ts',
              },
            },
          ]),
      { extends: true, test: { name: 'alone', include: alone } },
      // Not a test: what makes the pictures of the README uses a testbed.
      ...(pictures === undefined ? [] : [{ extends: true as const, test: { name: 'pictures', include: pictures } }]),
    ],
  },
});
