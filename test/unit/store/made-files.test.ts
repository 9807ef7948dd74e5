import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MadeFiles } from '../../../src/store/made-files.ts';
import {
  fileClock,
  otherConnection,
  placeMirror,
  temporaryFolder,
  vendor,
  writeMirror,
} from '../../support/mirror-file.ts';

function begun() {
  const folder = temporaryFolder();
  const [database, secrets] = [join(folder, 'data', 'vendors.db'), join(folder, 'keys', 'secrets.db')];
  const made = new MadeFiles({ database, secrets });
  mkdirSync(join(folder, 'data'));
  mkdirSync(join(folder, 'keys'));
  writeFileSync(secrets, '');
  return { folder, database, secrets, made };
}

function remove(made: MadeFiles): void {
  made.remove();
  made.removeFolders();
}

describe('of a start that was refused', () => {
  it('an empty mirror goes, with its secrets and its folders', async () => {
    const { folder, database, made } = begun();
    await placeMirror(database);
    remove(made);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a mirror that somebody else has filled meanwhile stays, with its secrets', async () => {
    const { database, secrets, made } = begun();
    await writeMirror(database, fileClock, { vendors: [vendor(1)] });
    remove(made);
    expect([existsSync(database), existsSync(secrets)]).toEqual([true, true]);
  });

  it('a mirror that somebody else has open stays', async () => {
    const { database, made } = begun();
    await placeMirror(database);
    const other = otherConnection(database);
    other.pragma('journal_mode = WAL');
    other.exec('BEGIN IMMEDIATE');
    remove(made);
    expect(existsSync(database)).toBe(true);
  });

  it('what is no mirror stays', () => {
    const { database, made } = begun();
    writeFileSync(database, 'Something else.');
    remove(made);
    expect(existsSync(database)).toBe(true);
  });

  it('secrets beside a mirror that was there before stay', async () => {
    const folder = temporaryFolder();
    const [database, secrets] = [join(folder, 'vendors.db'), join(folder, 'secrets.db')];
    await placeMirror(database);
    const made = new MadeFiles({ database, secrets });
    writeFileSync(secrets, '');
    remove(made);
    expect(readdirSync(folder).sort()).toEqual(['secrets.db', 'vendors.db']);
  });

  it('a folder stays in which somebody else has put something', async () => {
    const { folder, database, made } = begun();
    await placeMirror(database);
    writeFileSync(join(folder, 'data', 'notes.txt'), '');
    remove(made);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['data', join('data', 'notes.txt')]);
  });
});
