import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endsProcessAtRandom } from '../../../../src/store/sqlite/driver.ts';
import { temporaryFolder } from '../../../support/mirror-file.ts';

/** As the linker writes it: names of what is called stand between zeros. */
const calling = (name: string): string => `\u007fELF\0AddEnvironmentCleanupHook\0${name}\0`;

it.each([
  [
    'Node.js 24 with what its new headers compile',
    'v24.19.0',
    calling('_ZN4node28RemoveEnvironmentCleanupHookEPN2v8'),
    true,
  ],
  ['Node.js 26 with it', 'v26.0.0', calling('_ZN4node28RemoveEnvironmentCleanupHookEPN2v8'), true],
  ['Node.js 24 with what older headers compiled', 'v24.21.0', calling('sqlite3_open'), false],
  ['Node.js 20', 'v20.20.2', calling('_ZN4node28RemoveEnvironmentCleanupHookEPN2v8'), false],
  ['Node.js 24 with a driver of which nothing is compiled', 'v24.21.0', undefined, false],
])('K54 the driver ends processes at random: %s', (_, version, bytes, expected) => {
  const file = join(temporaryFolder(), 'better_sqlite3.node');
  if (bytes !== undefined) writeFileSync(file, bytes);
  expect(endsProcessAtRandom(version, file)).toBe(expected);
});

it('does not end those of this process', () => {
  expect(endsProcessAtRandom()).toBe(false);
});
