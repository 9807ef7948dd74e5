/** PgBouncer in transaction mode before a server: each transaction may get another of a few sessions. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './network/free-port.ts';
import { asOther } from './postgres-server.ts';

/** What is missing for such tests; undefined where all is there. */
export const missingPooler =
  spawnSync('pgbouncer', ['--version']).status === 0 ? undefined : 'the program pgbouncer is not there';

/** Starts one before the server of this address, until the test ends. @returns the address through it */
export async function pooled(address: string, sessions: number): Promise<string> {
  const to = new URL(address);
  const user = asOther();
  const folder = mkdtempSync(join(tmpdir(), 'vendor-mirror-pooler-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${to.hostname} port=${to.port} user=${to.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
`,
  );
  if (user.uid !== undefined && user.gid !== undefined)
    for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  const pooler = spawn('pgbouncer', [file], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    if (pooler.exitCode === null && pooler.kill('SIGKILL')) await once(pooler, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    pooler.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('process up')) resolve();
    });
    pooler.once('exit', () => reject(new Error(`The pooler ended: ${log}`)));
  });
  to.port = String(port);
  to.hostname = '127.0.0.1';
  return String(to);
}
