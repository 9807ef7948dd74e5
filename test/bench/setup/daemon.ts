/** A daemon of the compiled program, as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { program, settingsText, type Place } from './installation.ts';

export interface Daemon {
  /** Milliseconds from the start of the process until it says that it serves. */
  readonly ms: number;
  /** The address of its pages. */
  readonly dashboard: string;
  /** Stops it, and waits until it has ended. */
  stop(): Promise<void>;
}

/** Writes the settings of a daemon on any free ports, whose schedule disturbs no measurement. @returns their path. */
export function daemonSettings(place: Place): string {
  const path = join(place.folder, 'mirror.yaml');
  const seldom = { reconcile: '0 3 1 1 *', pull: '0 4 1 1 *' };
  const ports = { listener: { host: '127.0.0.1', port: 0 }, admin: { port: 0 } };
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(settingsText(place)) as object), ...ports, schedule: seldom }));
  return path;
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
