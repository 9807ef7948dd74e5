/** A daemon of the compiled program, as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { program } from './installation.ts';

export interface Daemon {
  /** Milliseconds from the start of the process until it says that it serves. */
  readonly ms: number;
  /** The address of its pages. */
  readonly dashboard: string;
  /** Stops it, and waits until it has ended. */
  stop(): Promise<void>;
}

export async function startDaemon(settings: string): Promise<Daemon> {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '-c', settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  for await (const line of createInterface(child.stderr)) {
    if (!line.includes('"msg":"serving"')) continue;
    const ms = performance.now() - begun;
    const { dashboard } = JSON.parse(line) as { readonly dashboard: string };
    child.stderr.resume();
    return {
      ms,
      dashboard,
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error('The daemon did not start.');
}
