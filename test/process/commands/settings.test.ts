/** Settings that the program reads from a pipe, as shells make them. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../../support/testbed/build.ts';
import { ended, type Ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const pipes: readonly [name: string, script: (cat: string, run: string) => string][] = [
  ['-c <(…)', (cat, run) => `${run} -c <(${cat})`],
  ['-c /dev/stdin', (cat, run) => `${cat} | ${run} -c /dev/stdin`],
];

function piped(at: Testbed<'program'>, script: (typeof pipes)[number][1], cat: string): Promise<Ended> {
  const run = `'${process.execPath}' '${program}' sync --json`;
  return ended(at.execute('bash', '-c', script(cat, run)));
}

it.each(pipes)('K49 settings from a pipe are read to their end: %s', async (_, script) => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  // More than one pipe holds, so that it is read in several turns.
  appendFileSync(join(at.folder, 'mirror.yaml'), `\n${'# more\n'.repeat(50_000)}`);
  const { status, stdout, stderr } = await piped(at, script, 'cat mirror.yaml');
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(stdout)).toMatchObject({ runs: [{ seen: 5 }] });
});

it.each(pipes)('K49 settings from a pipe that never ends are refused: %s', async (_, script) => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  const { status, stderr } = await piped(at, script, `{ cat mirror.yaml; yes '# more'; }`);
  expect([status, stderr]).toEqual([78, expect.stringContaining('it is larger than 1048576 bytes')]);
});
