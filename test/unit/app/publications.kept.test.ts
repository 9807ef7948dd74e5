/** Which copies are written when, and what is known of each: the writing itself is a stub here. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Publications } from '../../../src/app/publications.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { createLog } from '../../../src/domain/log.ts';
import { publicationReports, writeAllAgain, type PublicationReport } from '../../../src/store/publications.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { row } from '../../support/testbed/store.ts';
import { testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

type Publish = ConstructorParameters<typeof Publications>[0]['settings']['publish'];
type How = 'works' | 'fails' | 'hangs' | 'hangs whatever it is told';

/** A mirror with one vendor, and a daemon's copies of it. */
async function kept(begins?: number) {
  const clock = virtualClock(begins === undefined ? {} : { start: begins });
  const store = await testbed({ level: 'store' });
  const folder = temporaryFolder();
  const lines: { level: number; msg: string; code?: string }[] = [];
  /** Names of the copies that were begun, and when. */
  const begun: [name: string, at: number][] = [];
  const how = new Map<string, How>();
  let next = 1;
  const change = async (): Promise<void> => {
    await store.page(await store.ask(), row(next, `Vendor ${next}`));
    next += 1;
  };
  await change();
  const nameOf = (path: string): string => path.slice(folder.length + 1);
  const start = async (...publish: Publish): Promise<Publications> => {
    const publications = new Publications({
      settings: {
        publish: publish.map((one) => ({ ...one, path: join(folder, one.path) })),
        ...{ secrets: join(folder, 'secrets.db'), readFrom: [], schedule: { timezone: 'UTC' } },
      },
      mirror: {
        publications: store.mirror.publications,
        publishedAt: (path) => store.mirror.publishedAt(path),
        async publish({ path }, { signal }) {
          const name = nameOf(path);
          begun.push([name, clock.monotonic()]);
          const now = how.get(name) ?? 'works';
          if (now === 'fails') throw new MirrorError('file_unwritable', `${name} cannot be written.`);
          if (now !== 'works')
            await new Promise((_, reject) => {
              if (now === 'hangs') signal?.addEventListener('abort', () => reject(new Error('aborted')));
            });
          writeFileSync(path, String(begun.length));
          return { noTimes: 0 };
        },
      },
      program: '',
      clock,
      random: { ...systemRandom, fraction: () => 0 },
      log: createLog('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    });
    onTestFinished(() => publications.stop());
    await publications.start();
    await clock.advance(0);
    return publications;
  };
  const report = async (name: string): Promise<PublicationReport | undefined> =>
    (await store.mirror.query(publicationReports)).find(({ path }) => nameOf(path) === name);
  const count = (name: string): number => begun.filter(([one]) => one === name).length;
  return { clock, folder, store, lines, begun, how, change, start, report, count };
}

const copy = (path: string, when = 'change'): Publish[number] => ({ path, when });

describe('L29 a copy after changes', () => {
  it('follows the feed, whatever changed it: nobody tells of a run', async () => {
    const at = await kept();
    await at.start(copy('a.csv'));
    expect(at.count('a.csv')).toBe(1);
    await at.clock.advance(3_600_000);
    expect(at.count('a.csv')).toBe(1);
    await at.change();
    expect((await at.report('a.csv'))?.behind_since).not.toBeNull();
    await at.clock.advance(6_000);
    expect(at.count('a.csv')).toBe(2);
    expect((await at.report('a.csv'))?.behind_since).toBeNull();
  });

  it('holds a burst of changes together, and waits a minute at most for its end', async () => {
    const at = await kept();
    await at.start(copy('a.csv'));
    for (let nth = 0; nth < 20; nth++) {
      await at.change();
      await at.clock.advance(1_000);
    }
    expect(at.count('a.csv')).toBe(1);
    await at.clock.advance(6_000);
    expect(at.count('a.csv')).toBe(2);
    const before = at.clock.monotonic();
    for (let nth = 0; nth < 150; nth++) {
      await at.change();
      await at.clock.advance(2_000);
    }
    const times = at.begun.slice(2).map(([, moment]) => moment - before);
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect(times.length).toBeLessThanOrEqual(5);
    expect(times[0]).toBeLessThanOrEqual(62_000);
  });

  it('is not made of a mirror in which nothing was ever mirrored', async () => {
    const store = await testbed({ level: 'store' });
    expect(await store.mirror.publications.place()).toMatch(/:0$/);
    const at = await kept();
    expect(await at.store.mirror.publications.place()).toMatch(/:1$/);
  });
});

describe('L61 a copy that does not end', () => {
  it.each<How>(['hangs', 'hangs whatever it is told'])(
    '%s: the others have their turn after ten minutes, and it is tried again behind them',
    async (hanging) => {
      const at = await kept();
      at.how.set('a.csv', hanging);
      await at.start(copy('a.csv'), copy('b.csv'), copy('c.csv', '0 6 * * *'));
      await at.clock.advance(9 * 60_000);
      expect(at.begun.map(([name]) => name)).toEqual(['a.csv']);
      await at.clock.advance(61_000);
      expect(at.begun.map(([name]) => name)).toEqual(['a.csv', 'b.csv', 'c.csv']);
      expect(await at.report('a.csv')).toMatchObject({ code: 'copy_too_slow', failures: 1, written_at: null });
      await at.clock.advance(3_600_000);
      expect(at.count('a.csv')).toBeLessThanOrEqual(5);
      await at.change();
      await at.clock.advance(11 * 60_000);
      expect(at.count('b.csv')).toBe(2);
      at.how.set('a.csv', 'works');
      await at.clock.advance(3_600_000 + 10 * 60_000);
      expect(await at.report('a.csv')).toMatchObject({ failing_since: null, failures: 0, error: null });
    },
  );
});

describe('L79 a copy that fails', () => {
  it.each(['change', '0 6 * * *'])(
    'by %s has a state since the first failure, is logged once, and is written when the cause is gone',
    async (when) => {
      const at = await kept();
      at.how.set('a.csv', 'fails');
      const first = at.clock.now();
      await at.start(copy('a.csv', when), copy('b.csv'));
      await at.clock.advance(2 * 3_600_000);
      const state = await at.report('a.csv');
      expect(state).toMatchObject({ written_at: null, code: 'file_unwritable', error: 'a.csv cannot be written.' });
      expect(Date.parse(`${state!.failing_since!.replace(' ', 'T')}Z`)).toBe(first);
      expect(at.count('a.csv')).toBe(state!.failures);
      expect(state!.failures).toBeGreaterThan(4);
      expect(state!.failures).toBeLessThan(9);
      expect(at.count('b.csv')).toBe(1);
      expect(at.lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('could not be published')]);
      at.how.set('a.csv', 'works');
      await at.clock.advance(3_600_000);
      expect(await at.report('a.csv')).toMatchObject({ failing_since: null, code: null });
      expect((await at.report('a.csv'))?.failed_at).not.toBeNull();
      expect(at.lines.at(-1)).toMatchObject({ level: 30, msg: 'the copy for readers is written again' });
    },
  );

  it.each(['change', '0 6 * * *'])('by %s is caught up at the start', async (when) => {
    const at = await kept(Date.UTC(2026, 10, 20, 5, 30));
    const first = await at.start(copy('a.csv', when));
    at.how.set('a.csv', 'fails');
    await at.change();
    await at.clock.advance(3_600_000);
    await first.stop();
    const failed = at.count('a.csv');
    expect((await at.report('a.csv'))?.failing_since).not.toBeNull();
    at.how.set('a.csv', 'works');
    await at.start(copy('a.csv', when));
    expect(at.count('a.csv')).toBe(failed + 1);
    expect(await at.report('a.csv')).toMatchObject({ failing_since: null, behind_since: null });
  });

  const lost: readonly [
    title: string,
    lose: (at: Awaited<ReturnType<typeof kept>>) => unknown,
    then?: Publish[number],
  ][] = [
    ['lacks what changed meanwhile', (at) => at.change()],
    ['was removed', ({ folder }) => rmSync(join(folder, 'a.csv'))],
    [
      'was replaced, or the mirror was restored from an older copy',
      ({ folder }) => utimesSync(join(folder, 'a.csv'), 1, 1),
    ],
    ['holds what `forget` removed since', ({ store }) => store.mirror.query((sqlite) => writeAllAgain(sqlite))],
    ['is made of another view now', () => undefined, { ...copy('a.csv'), view: 'payables' }],
    ['has another form now', () => undefined, { ...copy('a.csv'), format: 'json' }],
  ];
  it.each(lost)('one that %s is written at the start; one that lacks nothing is not', async (title, lose, then) => {
    const at = await kept();
    await (await at.start(copy('a.csv'), copy('b.csv'))).stop();
    await lose(at);
    const forgets = title.includes('forget');
    const isChange = forgets || (await at.report('b.csv'))?.behind_since !== null;
    await at.start(then ?? copy('a.csv'), copy('b.csv'));
    expect([at.count('a.csv'), at.count('b.csv')]).toEqual([2, isChange ? 2 : 1]);
    await at.clock.advance(3_600_000);
    expect([at.count('a.csv'), at.count('b.csv')]).toEqual([2, isChange ? 2 : 1]);
  });
});
