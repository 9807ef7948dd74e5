/** The file of a sandbox's world, over the weeks and months that a trial may last. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { openWorldFile } from '../../../src/sandbox/world-file.ts';
import { packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function start(file: string, options: Partial<SandboxOptions> = {}) {
  const memory = openWorldFile(file, 'first');
  const clock = virtualClock();
  const sandbox = new Sandbox(
    { accounts: [account], vendors: 60, rateLimits: null, ...options, memory },
    { clock, post: () => Promise.resolve({ status: 200 }) },
  );
  onTestFinished(() => sandbox.stop());
  const stop = (): void => {
    sandbox.stop();
    memory.close();
  };
  return { sandbox, vendors: sandbox.vendors(account), clock, stop };
}

/** Each time a new pair of tokens, valid for a second. */
async function renew({ sandbox, clock }: ReturnType<typeof start>, refreshToken: string): Promise<string> {
  const answer = await sandbox.handle({
    method: 'POST',
    path: '/auth/oauth/token',
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.from(`grant_type=refresh_token&refresh_token=${refreshToken}`),
  });
  await clock.advance(2_000);
  return (JSON.parse(Buffer.from(answer.body).toString()) as { refresh_token: string }).refresh_token;
}

describe('L49 the file of a world that is kept', () => {
  it('stays below four times of what it keeps, however often vendors change, and keeps the latest of each', () => {
    const file = join(temporaryFolder(), 'world');
    const one = start(file);
    const ids = one.vendors.all().map(({ vendorid }) => Number(vendorid));
    let largest = 0;
    for (let count = 0; count < 6_000; count += 1) {
      one.vendors.edit(ids[count % ids.length]!, { city: `Oslo ${count}` });
      largest = Math.max(largest, statSync(file).size);
    }
    const left = one.vendors.all();
    one.stop();
    const two = start(file);
    expect(two.vendors.all()).toEqual(left);
    const kept = statSync(file).size;
    expect(kept).toBeGreaterThan(20_000);
    expect(largest).toBeLessThan(4 * kept + 2_000);
    two.stop();
    expect(readdirSync(join(file, '..'))).toEqual(['world']);
  });

  it('forgets tokens that are over, and remembers that one which was given to it has been used', async () => {
    const file = join(temporaryFolder(), 'world');
    const options = { vendors: 1, tokenLifetime: 1, refreshToken: 'given' };
    const one = start(file, options);
    let next = await renew(one, 'given');
    let largest = 0;
    for (let count = 0; count < 500; count += 1) {
      next = await renew(one, next);
      largest = Math.max(largest, statSync(file).size);
    }
    expect(largest).toBeLessThan(70_000);
    one.stop();
    const two = start(file, options);
    expect(statSync(file).size).toBeLessThan(6_000);
    expect(two.sandbox.access.takeRefresh('given')).toBe(false);
    expect(two.sandbox.access.takeRefresh(next)).toBe(true);
  });

  it('goes on growing while it cannot be rewritten, loses nothing, and shrinks when it can', () => {
    const file = join(temporaryFolder(), 'world');
    const one = start(file);
    const [{ vendorid } = { vendorid: 0 }] = one.vendors.all();
    mkdirSync(`${file}.draft`);
    const change = (from: number, to: number): void => {
      for (let count = from; count < to; count += 1) one.vendors.edit(Number(vendorid), { city: `Oslo ${count}` });
    };
    change(0, 400);
    expect(statSync(file).size).toBeGreaterThan(100_000);
    rmdirSync(`${file}.draft`);
    change(400, 2_000);
    expect(statSync(file).size).toBeLessThan(66_000);
    expect(readFileSync(file, 'utf8')).toContain('Oslo 1999');
    one.stop();
    expect(start(file).vendors.find(Number(vendorid), 0)).toMatchObject({ texts: { city: 'Oslo 1999' } });
  });

  it('is read line by line: one that an older version let grow needs no more memory than what it keeps', () => {
    const file = join(temporaryFolder(), 'world');
    const one = start(file, { vendors: 3 });
    const [{ vendorid } = { vendorid: 0 }] = one.vendors.all();
    one.vendors.edit(Number(vendorid), { city: 'Oslo' });
    one.stop();
    const last = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)!;
    const older = `${last.replace('Oslo', 'Bergen')}\n`.repeat(1_000);
    for (let size = 0; size < 80_000_000; size += older.length) appendFileSync(file, older);
    appendFileSync(file, `${last}\n`);
    const code = `
      const { openWorldFile } = await import(${JSON.stringify(join(packageRoot, 'src/sandbox/world-file.ts'))});
      console.log(JSON.stringify(openWorldFile(${JSON.stringify(file)}, '').entries.filter(({ kind }) => kind === 'vendor')));`;
    const script = join(temporaryFolder(), 'open.mjs');
    writeFileSync(script, code);
    const loader = join(packageRoot, '.config/typescript-loader.js');
    const { status, stdout } = spawnSync(process.execPath, ['--max-old-space-size=48', '--import', loader, script], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Oslo')]);
    expect(statSync(file).size).toBeLessThan(10_000);
  });
});
