/** A move that is killed at any operation on a file: nothing is lost, no program uses half of it, and the same command finishes. */
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asked } from '../support/test-size.ts';
import { ask, temporaryFolder } from '../support/mirror-file.ts';
import { ended } from '../support/testbed/program.ts';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';
import { readNotes } from './notes.ts';
import { compileTap, untappable } from './tap.ts';
import { startTapped } from './tapped.ts';

/** How many moves are killed; nightly as many as there are operations. */
const kills = asked('MOVE_KILLS', 8);

const everything = 'wstuor';
const names = ['secrets.db', 'vendors.db'];

describe.skipIf(isMissing(untappable))(`a move${untappable === undefined ? '' : ` (not here: ${untappable})`}`, () => {
  it(
    `killed at ${kills} of its operations is finished by the same command, with the same files`,
    async () => {
      const at = await testbed({ level: 'program', service: { vendors: 30 } });
      expect((await at.run('sync')).status).toBe(0);
      const kept = join(at.folder, 'kept');
      mkdirSync(kept);
      for (const name of names) copyFileSync(join(at.folder, name), join(kept, name));
      const library = compileTap();
      const log = join(temporaryFolder(), 'notes');
      const putBack = (): void => {
        for (const name of names) copyFileSync(join(kept, name), join(at.folder, name));
      };
      const contents = (folder: string): unknown[] => [
        ask(join(folder, 'vendors.db'), 'SELECT * FROM vendors ORDER BY vendorid'),
        ask(join(folder, 'vendors.db'), 'SELECT * FROM mirror_identity'),
        ask(join(folder, 'secrets.db'), 'SELECT * FROM path_tokens'),
      ];
      const expected = contents(at.folder);
      const target = (nth: number): string => join(at.folder, `target-${nth}`);
      const settle = async (folder: string, where: string): Promise<void> => {
        const { status, stderr } = await at.run('move', folder);
        expect([status, where], stderr).toEqual([0, where]);
        expect(readdirSync(folder).sort(), where).toEqual(names);
        expect(contents(folder), where).toEqual(expected);
        for (const name of names) expect(existsSync(join(at.folder, name)), where).toBe(false);
        // The next one begins from the same files, moved back.
        for (const name of names) rmSync(join(at.folder, `${name}.moved`));
        putBack();
      };

      await ended(startTapped(at, ['move', target(0)], { library, log }));
      const all = readNotes(log).length;
      await settle(target(0), 'whole');
      const met = new Set<number>();
      for (let index = 0; index < kills; index++) {
        const nth = 1 + Math.floor(((index + 0.5) * all) / kills);
        const child = startTapped(at, ['move', target(nth)], { library, log, kill: { kinds: everything, nth } });
        await once(child, 'exit');
        // Half-way, no command takes an old place for an empty one.
        const { status, stderr } = await at.run('status');
        expect([0, 74, 78], `${nth} of ${all}: ${stderr}`).toContain(status);
        expect(stderr, `${nth} of ${all}`).not.toContain('Nothing is mirrored');
        met.add(status ?? 1);
        await settle(target(nth), `killed at ${nth} of ${all}`);
      }
      expect(met.has(0) && met.has(74)).toBe(true);
    },
    120_000 + kills * 20_000,
  );
});
