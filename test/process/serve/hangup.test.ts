/** SIGHUP: a terminal that is closed, and settings that are read again. SIGUSR1 and SIGUSR2: nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { until } from '../../support/testbed/daemon-process.ts';
import { program } from '../../support/testbed/build.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** For a machine that does much else. */
vi.setConfig({ testTimeout: 60_000 });

/** Rewrites the settings with other texts. */
function rewrite({ folder }: Testbed<'program'>, from: string, to: string): void {
  const file = join(folder, 'mirror.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));
}

interface Terminal {
  /** What the daemon in it wrote on standard error so far. */
  readonly stderr: () => string;
  close(): void;
  /** Resolves when every process that was started in it has ended. */
  readonly empty: Promise<unknown>;
}

/** Starts `serve` in a terminal, as the shell does after these words. */
function inTerminal(at: Testbed<'program'>, words = ''): Terminal {
  const [errors, pid] = [join(at.folder, 'errors'), join(at.folder, 'pid')];
  const line = `echo $$ > '${pid}'; exec ${words} '${process.execPath}' '${program}' serve 2> '${errors}'`;
  // Everyone in it holds the fourth stream.
  const window = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: at.folder,
    env: { ...process.env, VENDOR_MIRROR_CONFIG: join(at.folder, 'mirror.yaml') },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  let lives = true;
  const empty = once((window.stdio[3] as Readable).resume(), 'close').then(() => (lives = false));
  onTestFinished(() => {
    window.kill('SIGKILL');
    if (lives) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
  });
  window.stdout.resume();
  return {
    stderr: () => (existsSync(errors) ? readFileSync(errors, 'utf8') : ''),
    close: () => void window.kill('SIGKILL'),
    empty,
  };
}

describe('SIGHUP', () => {
  it('ends a daemon cleanly when its terminal is closed', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const terminal = inTerminal(at);
    await until(() => terminal.stderr().includes('"msg":"reconcile complete"'));
    terminal.close();
    await terminal.empty;
    expect(terminal.stderr()).toContain('"msg":"stopped"');
    expect(existsSync(`${at.database}-wal`)).toBe(false);
  });

  it('does not end one that nohup started there', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const terminal = inTerminal(at, 'nohup');
    await until(() => terminal.stderr().includes('"msg":"reconcile complete"'));
    terminal.close();
    await until(() => terminal.stderr().includes('tokens were read again'));
    const answer = await fetch(`http://127.0.0.1:${at.adminPort}/healthz`);
    expect(answer.status).toBe(200);
  });

  it('lets a daemon read its token again', async () => {
    const world = await testbed({ level: 'sandbox', vendors: 5 });
    const at = await testbed({ level: 'program', service: world, listens: true });
    rewrite(at, world.token, 'expired');
    const daemon = await at.serve();
    await daemon.logged('The service did not accept the token');
    rewrite(at, 'expired', world.token);
    daemon.child.kill('SIGHUP');
    await daemon.logged('tokens were read again');
    await daemon.swept();
    expect(await daemon.end()).toBe(0);
  });

  it('leaves a daemon on the built-in sandbox with the token of the sandbox, which is in no settings', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    writeFileSync(
      join(at.folder, 'mirror.yaml'),
      `accounts: [6BApk]
database: ${at.database}
secrets: ${join(at.folder, 'secrets.db')}
listener: { port: ${at.listenerPort} }
admin: { port: ${at.adminPort} }
sandbox: { vendors: 5, seed: 1, churn: 0, records: odd }
`,
    );
    const daemon = await at.serveUntilSwept();
    daemon.child.kill('SIGHUP');
    await daemon.logged('tokens were read again');
    expect(await daemon.end()).toBe(0);
    expect(daemon.stderr()).not.toContain('could not be checked');
  });

  it('applies accounts of the settings to a daemon, which names the settings that need a restart', async () => {
    const world = await testbed({ level: 'sandbox', vendors: 5, account: ['6BApk', 'other', 'third'] });
    const at = await testbed({ level: 'program', service: world, listens: true });
    const daemon = await at.serveUntilSwept();
    const file = join(at.folder, 'mirror.yaml');
    const text = readFileSync(file, 'utf8').replace(/^accounts:.*$/m, "accounts: ['6BApk', 'third']");
    writeFileSync(file, `${text}\nshutdownTimeout: 7s\n`);
    daemon.child.kill('SIGHUP');
    await daemon.logged('the account third is served from now on');
    await daemon.logged('these settings have changed and need a restart: shutdownTimeout');
    await until(() => daemon.stderr().split('"msg":"reconcile complete"').length > 2);
    expect(await daemon.end()).toBe(0);
  });

  it('takes nothing from the settings of another mirror or service', async () => {
    const world = await testbed({ level: 'sandbox', vendors: 5, account: ['6BApk', 'other'] });
    const at = await testbed({ level: 'program', service: world, listens: true });
    const daemon = await at.serveUntilSwept();
    const file = join(at.folder, 'mirror.yaml');
    const text = readFileSync(file, 'utf8');
    const elsewhere = text
      .replace(/^accounts:.*$/m, "accounts: ['6BApk', 'other']")
      .replace(world.token, 'token-of-another-service');
    for (const [from, to, key] of [
      [/^database:.*$/m, `database: ${join(at.folder, 'elsewhere.db')}`, 'database'],
      [/baseUrl: .*?([,}\n])/, 'baseUrl: https://api.example.com$1', 'service.baseUrl'],
    ] as const) {
      writeFileSync(file, elsewhere.replace(from, to));
      daemon.child.kill('SIGHUP');
      await daemon.logged(`SIGHUP: ${key} has changed, so nothing was taken from the settings`);
    }
    writeFileSync(file, `${text}\nshutdownTimeout: 7s\n`);
    daemon.child.kill('SIGHUP');
    await daemon.logged('these settings have changed and need a restart: shutdownTimeout');
    expect(await daemon.end()).toBe(0);
    expect(daemon.stderr()).not.toMatch(/account other|did not accept the token/);
  });

  it('changes nothing if the settings cannot be read', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const daemon = await at.serveUntilSwept();
    rewrite(at, 'accounts:', 'acounts:');
    daemon.child.kill('SIGHUP');
    await daemon.logged('the new settings cannot be used; the old ones stay');
    expect(await daemon.end()).toBe(0);
  });

  it('is ignored by a daemon that is stopping', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const daemon = await at.serveUntilSwept();
    daemon.child.kill('SIGTERM');
    await daemon.logged('"msg":"stopping"');
    daemon.child.kill('SIGHUP');
    expect(await daemon.ended).toBe(0);
    expect(daemon.stderr()).not.toContain('SIGHUP');
  });
});

it('L106 SIGUSR1 opens no debugger, SIGUSR2 ends nothing, and a daemon goes on', async () => {
  const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
  const daemon = await at.serveUntilSwept();
  daemon.child.kill('SIGUSR1');
  daemon.child.kill('SIGUSR2');
  daemon.child.kill('SIGHUP');
  await daemon.logged('tokens were read again');
  expect(await daemon.end()).toBe(0);
  expect(daemon.stderr()).not.toMatch(/debugger|inspector/i);
});
