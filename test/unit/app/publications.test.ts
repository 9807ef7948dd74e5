import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Publications, refuseBadSchedules, refuseBadSources } from '../../../src/app/publications.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/domain/log.ts';
import { ask, temporaryFolder } from '../../support/mirror-file.ts';
import { compiled } from '../../support/source/compiled.ts';
import { row } from '../../support/testbed/store.ts';
import { testbed } from '../../support/testbed.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

type Publish = ConstructorParameters<typeof Publications>[0]['settings']['publish'];

/** Publications of a mirror with one vendor, in a folder of their own; `at` makes them from names of files. */
async function publishing(at: (folder: string) => Publish, { program = compiled.exports } = {}) {
  const store = await testbed({ level: 'store' });
  await store.page(await store.ask(), row(1, 'Huber'));
  const folder = temporaryFolder();
  const clock = virtualClock();
  const lines: string[] = [];
  const written = new EventEmitter();
  const publish = at(folder);
  const publications = new Publications({
    settings: { publish, secrets: join(folder, 'secrets.db'), readFrom: [], schedule: { timezone: 'UTC' } },
    mirror: {
      publications: store.mirror.publications,
      publishedAt: (path) => store.mirror.publishedAt(path),
      async publish(publication, options) {
        const exported = await store.mirror.publish(publication, options);
        written.emit(publication.path);
        return exported;
      },
    },
    program,
    clock,
    random: { ...systemRandom, fraction: () => 0 },
    log: createLog('info', { write: (line) => void lines.push(line) }),
  });
  onTestFinished(() => publications.stop());
  const [path = ''] = publish.map((publication) => publication.path);
  /** Resolves when a file is written next. */
  const isWritten = async (file: string): Promise<void> => {
    await once(written, file);
  };
  return { store, folder, clock, lines, publications, path, isWritten };
}

/** Lets time pass while no copy is being written, until the file is written next. */
async function passing(clock: VirtualClock, work: Promise<void>): Promise<void> {
  const open = Symbol('open');
  const turn = (): Promise<typeof open> => new Promise((resolve) => setImmediate(() => resolve(open)));
  while ((await Promise.race([work, turn()])) === open) {
    if (clock.pending().some((left) => left <= 1_000)) await clock.advance(1_000);
  }
}

/** Resolves when a file is made or changed in the folder next. */
async function nextIn(folder: string): Promise<void> {
  const watcher = watch(folder);
  await once(watcher, 'change');
  watcher.close();
}

/** A process that copies, and hears nothing while it does. */
function busyForEver(): string {
  const path = join(temporaryFolder(), 'busy.js');
  writeFileSync(path, 'for (;;);');
  return path;
}

describe('copies for readers', () => {
  it('are written after a change in the form of their ending, while the mirror is written to', async () => {
    const { store, folder, clock, publications, lines, isWritten } = await publishing((at) => [
      { path: join(at, 'copy.db'), when: 'change' },
      { path: join(at, 'vendors.csv'), when: 'change', query: 'SELECT vendorid, vendor_name FROM vendors' },
      { path: join(at, 'rows'), when: 'change', format: 'ndjson', view: 'active_vendors' },
    ]);
    const rows = join(folder, 'rows');
    const first = isWritten(rows);
    await publications.start();
    await store.page(await store.ask(), row(2, 'Meier'));
    await passing(clock, first);
    const copied = (): unknown =>
      ask(join(folder, 'copy.db'), 'SELECT count(*) AS vendors FROM vendors')[0]?.['vendors'];
    expect([1, 2]).toContain(copied());
    expect(readFileSync(join(folder, 'vendors.csv'), 'utf8')).toMatch(/^\ufeffvendorid,vendor_name\r\n1,Huber\r\n/);
    const second = isWritten(rows);
    await store.page(await store.ask(), row(3, 'Muster'));
    await passing(clock, second);
    expect(readFileSync(rows, 'utf8').split('\n')).toHaveLength(4);
    expect(copied()).toBe(3);
    expect(lines).toEqual([]);
  });

  it('on a schedule are written at each slot and not after changes; a missed one is made up', async () => {
    const { store, folder, clock, publications, path, isWritten } = await publishing((at) => [
      { path: join(at, 'a.csv'), when: '0 6 * * *' },
      { path: join(at, 'b.csv'), when: 'change' },
    ]);
    const both = isWritten(join(folder, 'b.csv'));
    await publications.start();
    await both;
    const { ino } = statSync(path);
    const other = isWritten(join(folder, 'b.csv'));
    await store.page(await store.ask(), row(2, 'Meier'));
    await passing(clock, other);
    await clock.advance(17 * 3_600_000);
    expect(statSync(path).ino).toBe(ino);
    const again = isWritten(path);
    await clock.advance(2 * 3_600_000);
    await passing(clock, again);
    expect(statSync(path).ino).not.toBe(ino);
  });

  it('on a schedule are not written by a start soon after they were written', async () => {
    const { clock, publications, path } = await publishing((at) => {
      writeFileSync(join(at, 'a.csv'), 'earlier');
      const written = (virtualClock().now() - 60_000) / 1_000;
      utimesSync(join(at, 'a.csv'), written, written);
      return [{ path: join(at, 'a.csv'), when: '0 6 * * *' }];
    });
    await publications.start();
    await clock.waiting();
    await clock.advance(3_600_000);
    expect(readFileSync(path, 'utf8')).toBe('earlier');
  });

  it('never replace a file of another program, and the others are written all the same', async () => {
    const { folder, lines, publications, isWritten } = await publishing((at) => {
      const other = new Driver(join(at, 'other.csv'));
      other.exec('CREATE TABLE invoices (id INTEGER)');
      other.close();
      return ['other.csv', 'own.csv'].map((name) => ({ path: join(at, name), when: 'change' }));
    });
    const own = isWritten(join(folder, 'own.csv'));
    await publications.start();
    await own;
    expect(ask(join(folder, 'other.csv'), 'SELECT count(*) AS invoices FROM invoices')).toEqual([{ invoices: 0 }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('is a database of another program');
  });

  it('with types warn of text in a time column that is not a time', async () => {
    const { publications, path, lines, isWritten } = await publishing((at) => [
      {
        path: join(at, 'a.parquet'),
        when: 'change',
        query: "SELECT first_seen_at FROM vendors UNION ALL SELECT 'never'",
      },
    ]);
    const first = isWritten(path);
    await publications.start();
    await first;
    await publications.stop();
    expect(readFileSync(path).subarray(0, 4).toString()).toBe('PAR1');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { path, texts: 1, msg: 'texts in time columns that are not times were left empty' },
    ]);
  });

  it('delay nothing while they are copied, however long that takes, and are aborted by a stop', async () => {
    const { store, folder, publications } = await publishing((at) => [{ path: join(at, 'copy.db'), when: 'change' }], {
      program: busyForEver(),
    });
    const began = nextIn(folder);
    await publications.start();
    await began;
    await store.page(await store.ask(), row(2, 'Meier'));
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.copy\.db\.[0-9a-f]{12}$/)]);
    await publications.stop();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('L75 are aborted by a stop while they are written, which leaves no other files', async () => {
    const { folder, publications, path } = await publishing((at) => [
      {
        path: join(at, 'a.csv'),
        when: 'change',
        query: 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
      },
    ]);
    const began = nextIn(folder);
    await publications.start();
    await began;
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.a\.csv\.[0-9a-f]{12}$/)]);
    await publications.stop();
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('what cannot be published', () => {
  it('is refused at the start: an impossible schedule, an unknown view, a query that does not only read', async () => {
    const { store } = await publishing(() => []);
    const schedule = { pull: '0 3 * * *', reconcile: '0 0 31 4 *', timezone: 'UTC' };
    expect(() => refuseBadSchedules({ schedule, publish: [{ path: 'a.csv', when: '0 0 30 2 *' }] })).toThrow(
      '  schedule.reconcile: an impossible day of the month\n  publish.0.when: an impossible day of the month',
    );
    const refused = refuseBadSources(
      [
        { path: 'a.csv', when: 'change', view: 'payables' },
        { path: 'b.csv', when: 'change', view: 'payable' },
        { path: 'c.csv', when: 'change', query: 'DELETE FROM vendors' },
        { path: 'd.csv', when: 'change', query: 'SELECT 1 AS a, 2 AS a' },
        { path: 'e.json', when: 'change', query: 'SELECT 1 AS a, 2 AS a' },
        { path: 'f.txt', format: 'ndjson', when: 'change', query: 'SELECT 1 AS a, 2 AS a' },
      ],
      store.mirror,
    );
    await expect(refused).rejects.toMatchObject({
      code: 'settings_invalid',
      message: expect.stringMatching(
        /publish\.1: The mirror has no view payable;[^]*publish\.2: The query cannot be used[^\n]*\n {2}publish\.4: Two columns are named a;[^\n]*\n {2}publish\.5: Two columns are named a;[^\n]*$/,
      ) as unknown,
    });
  });
});
