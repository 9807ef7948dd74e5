import { describe, expect, it } from 'vitest';
import { chooseDriver, Driver, driverFolder } from '../../../../src/store/sqlite/driver-package.ts';

/** What npm installed, by name, as versions; a version 12 is compiled unless told otherwise. */
function choice(node: string, installed: Record<string, string>, isCompiled = true) {
  const find = (name: string) => {
    const version = installed[name];
    return version === undefined ? undefined : { folder: `/packages/${name}`, version };
  };
  return chooseDriver(node, find, () => isCompiled);
}

const [prebuilt, compiled] = ['better-sqlite3', 'better-sqlite3-node20'];
const checkout = { [prebuilt]: '13.2.0', [compiled]: '12.11.1' };

describe('L30 the SQLite driver of each Node.js', () => {
  it.each([
    ['v20.19.0', checkout, compiled],
    ['v20.20.2', { [prebuilt]: '12.11.1' }, prebuilt],
    ['v22.13.0', checkout, prebuilt],
    ['v24.21.0', checkout, prebuilt],
    ['v26.12.1', { [prebuilt]: '13.9.1' }, prebuilt],
    ['v31.0.0', checkout, prebuilt],
  ])('of %s with %o is %s', (node, installed, expected) => {
    expect(choice(node, installed)).toEqual({ folder: `/packages/${expected}` });
  });

  it('is not looked for in what was compiled, where it comes compiled', () => {
    expect(choice('v24.21.0', checkout, false)).toEqual({ folder: `/packages/${prebuilt}` });
  });

  it.each([
    ['K54 12, which ends processes of Node.js 24.19 and newer at random', 'v24.21.0', { [prebuilt]: '12.11.1' }],
    ['K54 12 on another Node.js that 13 suits', 'v22.23.3', { [prebuilt]: '12.11.1', [compiled]: '12.11.1' }],
    ['13 on Node.js 20, where it crashes the process', 'v20.20.2', { [prebuilt]: '13.2.0' }],
    ['a later one, which nobody has tried', 'v26.12.1', { [prebuilt]: '14.0.0' }],
  ])('is refused before it is loaded: %s', (_, node, installed) => {
    expect(choice(node, installed)).toEqual({
      refusal: expect.stringContaining(`Node.js ${node} needs the SQLite driver better-sqlite3`) as string,
    });
    expect(choice(node, installed)).toMatchObject({ refusal: expect.stringContaining(installed[prebuilt]!) as string });
  });

  it.each(['v20.20.2', 'v26.12.1'])('is missed, where %s has none', (node) => {
    expect(choice(node, {})).toMatchObject({ refusal: expect.stringContaining('is not installed') as string });
  });

  it.each([
    ['in a checkout', checkout, /was not compiled: run `npm run build` in the folder of the program/],
    [
      'L60 in what was installed',
      { [prebuilt]: '12.11.1' },
      /was not compiled: run `npm rebuild better-sqlite3` where/,
    ],
  ])(
    'is missed on Node.js 20 where it was not compiled, and the command that does it %s is named',
    (_, installed, named) => {
      expect(choice('v20.20.2', installed, false)).toMatchObject({ refusal: expect.stringMatching(named) as string });
    },
  );

  it('is found for this process', () => {
    expect(driverFolder).toContain('better-sqlite3');
    const sqlite = new Driver(':memory:');
    expect(sqlite.prepare('SELECT 1').pluck().get()).toBe(1);
    sqlite.close();
  });
});
