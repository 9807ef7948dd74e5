/** Names and locks of processes; test/process/serve/pid-namespaces.test.ts shows what they are for. */
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { isProcessAlive, lockProcess, takeSideLock } from '../../../../src/store/files/locks.ts';
import { temporaryFolder } from '../../../support/mirror-file.ts';

const deadName = '00112233445566778899aabbccddeeff';

it('K9 processes of one mirror see each other as alive until their locks are released, and leave no file', () => {
  const folder = temporaryFolder();
  const database = join(folder, 'vendors.db');
  const one = lockProcess(database, systemRandom);
  const other = lockProcess(database, systemRandom);
  expect(one.name).toMatch(/^[0-9a-f]{32}$/);
  expect(one.name).not.toBe(other.name);
  expect([one.isAlive(one.name), one.isAlive(other.name), other.isAlive(one.name)]).toEqual([true, true, true]);
  expect(lockProcess(join(folder, 'another.db'), systemRandom).isAlive(one.name)).toBe(false);
  other.release();
  other.release();
  expect([one.isAlive(other.name), one.isAlive(one.name)]).toEqual([false, true]);
  one.release();
  expect(readdirSync(folder).filter((name) => name.startsWith('vendors.db'))).toEqual([]);
});

it('K9 a file that nobody has locked belongs to a dead process, and is removed when it is found', () => {
  const database = join(temporaryFolder(), 'vendors.db');
  const left = `${database}.lock-${deadName}`;
  const stranger = `${database}.lock-notes`;
  for (const path of [left, stranger]) writeFileSync(path, '');
  const one = lockProcess(database, systemRandom);
  expect([existsSync(left), existsSync(stranger)]).toEqual([false, true]);
  writeFileSync(left, '');
  expect(one.isAlive(deadName)).toBe(false);
  expect(existsSync(left)).toBe(false);
  one.release();
});

it('K9 a process draws another name if its name is taken', () => {
  const database = join(temporaryFolder(), 'vendors.db');
  const fill = (...values: number[]) => ({ bytes: (count: number) => new Uint8Array(count).fill(values.shift() ?? 0) });
  const one = lockProcess(database, fill(1));
  const other = lockProcess(database, fill(1, 1, 2));
  expect([one.name, other.name]).toEqual(['01'.repeat(16), '02'.repeat(16)]);
  other.release();
  one.release();
});

it('L64 locks are closed to other users, who could hold them, and so are those of before', () => {
  const database = join(temporaryFolder(), 'vendors.db');
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  const process = lockProcess(database, systemRandom);
  expect(modeOf(`${database}.lock-${process.name}`)).toBe(0o600);
  takeSideLock(database, 0).release();
  expect(modeOf(`${database}.lock`)).toBe(0o600);
  chmodSync(`${database}.lock`, 0o644);
  const daemon = takeSideLock(database, 0);
  expect(modeOf(`${database}.lock`)).toBe(0o600);
  expect(() => takeSideLock(database, 0)).toThrow('Another daemon works on');
  daemon.release();
  process.release();
});

it('K9 a reader sees which process is alive, and changes nothing', () => {
  const database = join(temporaryFolder(), 'vendors.db');
  const process = lockProcess(database, systemRandom);
  const left = `${database}.lock-${deadName}`;
  expect([process.name, deadName].map((name) => isProcessAlive(database, name))).toEqual([true, false]);
  writeFileSync(left, '');
  expect(isProcessAlive(database, deadName)).toBe(false);
  expect(isProcessAlive(database, '../another')).toBeUndefined();
  expect(existsSync(left)).toBe(true);
  expect(process.isAlive(process.name)).toBe(true);
  process.release();
  expect(isProcessAlive(database, process.name)).toBe(false);
});
