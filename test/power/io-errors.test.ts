import { describe, expect, it } from 'vitest';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import { asked } from '../support/test-size.ts';

import { countKinds, runDaemon, expectHeals, runPull, tapSetup, twoAtATime } from './processes.ts';
import { untappable, type Failure } from './tap.ts';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';

/** How many operations fail, one in each life; nightly as many as there are. */
const failures = asked('IO_ERRORS', 8);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

const errnos = ['ENOSPC', 'EIO', 'EDQUOT'] as const;

/** Operations spread over a life, from its first to its last, half of them syncs. */
function spread(counts: Record<string, number>, name: string): Failure[] {
  const random = seededRandom(seedOf(seed, name));
  return Array.from({ length: failures }, (_, index) => {
    const kinds = index % 2 === 0 ? 's' : random.pick(['w', 'w', 'w', 't', 'o']);
    const [from, to] = [index / failures, (index + 1) / failures].map((part) => Math.floor(part * counts[kinds]!)) as [
      number,
      number,
    ];
    return {
      kinds,
      nth: 1 + from + random.below(Math.max(1, to - from)),
      errno: random.pick(errnos),
      on: random.happens(0.2),
    };
  });
}

/** SQLite asks a folder to be synced, and takes a refusal; there are file systems that cannot. */
const isFile = (path: string): boolean => /\.db(-wal|-journal)?$/.test(path);

const nameOf = ({ kinds, nth, errno, on }: Failure): string =>
  `seed ${seed}, ${kinds}:${nth}:${errno}${on ? ':on' : ''}`;

describe.skipIf(isMissing(untappable))(
  `a disk that fails${untappable === undefined ? '' : ` (not here: ${untappable})`}`,
  () => {
    it(
      `F3 C12 loses nothing that a daemon acknowledged, at ${failures} operations`,
      async () => {
        const setup = tapSetup(await testbed({ level: 'sandbox', vendors: 40 }));
        const quiet = await runDaemon(setup);
        expect([quiet.status, quiet.answers.filter(({ status }) => status !== 200)]).toEqual([0, []]);
        await twoAtATime(spread(countKinds(quiet.notes), 'daemon'), async (fail) => {
          const life = await runDaemon(setup, { fail });
          const where = `${nameOf(fail)}: ${life.stderr}`;
          expect([0, 74], where).toContain(life.status);
          for (const { status } of life.answers) expect([200, 503, undefined], where).toContain(status);
          const failedSync = life.notes.some(
            (note) => note.kind === 'failed' && note.what === 's' && isFile(note.path),
          );
          if (failedSync) expect(life.status, where).toBe(74);
          await expectHeals(setup, life, where);
        });
      },
      240_000 + failures * 20_000,
    );

    it(
      `F3 leaves whole pages after a pull, which reports the failure, at ${failures} operations`,
      async () => {
        const setup = tapSetup(await testbed({ level: 'sandbox', vendors: 40 }));
        const quiet = await runPull(setup);
        expect(quiet.status).toBe(0);
        await twoAtATime(spread(countKinds(quiet.notes), 'pull'), async (fail) => {
          const life = await runPull(setup, { fail });
          const where = `${nameOf(fail)}: ${life.stdout} ${life.stderr}`;
          expect([0, 74], where).toContain(life.status);
          await expectHeals(setup, life, where);
        });
      },
      240_000 + failures * 20_000,
    );
  },
);
