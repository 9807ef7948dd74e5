/** The mirror as reporting tools ask it: by the driver, and of a file by the sqlite3 shell where there is one, which must say the same. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import type { Testbed } from '../testbed.ts';

export type Row = Record<string, unknown>;

const hasShell = spawnSync('sqlite3', ['--version']).status === 0;

export function askAsTools(at: Pick<Testbed<'account'>, 'query' | 'database'>, sql: string): Row[] {
  const rows = at.query(sql);
  if (hasShell && existsSync(at.database)) {
    const printed = execFileSync('sqlite3', ['-readonly', '-json', at.database, sql], { encoding: 'utf8' });
    expect(JSON.parse(printed || '[]')).toEqual(rows);
  }
  return rows;
}
