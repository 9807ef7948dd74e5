/** The program behind the tap, and deliveries that tell by which answers they were acknowledged. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { openSecrets } from '../../src/store/secrets/secrets.ts';
import { migrations, packageRoot } from '../support/mirror-file.ts';

import { delivery, knownVerifier, signed } from '../support/deliveries/signed-delivery.ts';
import { account } from '../support/names.ts';
import { tapEnvironment, type TapOptions } from './tap.ts';
import type { Testbed } from '../support/testbed.ts';

/** Free ports, and no service to register with: the key is known from the start. */
export const quietDaemon = `listener: { host: 127.0.0.1, port: 0 }
admin: { port: 0 }
sync: { lag: 0s }`;

/** Writes a key into the secrets, as if it had been proven. @returns the path of the account's callback. */
export async function introduce({ folder }: Testbed<'program'>): Promise<string> {
  const path = join(folder, 'secrets.db');
  const secrets = await openSecrets({ path, migrations, clock: systemClock, random: systemRandom });
  await secrets.verifiers.prove(account, 'bill_vendor', 77, knownVerifier);
  const token = await secrets.verifiers.pathToken(account);
  await secrets.close();
  return `/webhooks/${account}/${token.reveal()}`;
}

export interface TappedOptions extends Omit<TapOptions, 'folder'> {
  /** Modules that the program loads first. */
  readonly imports?: readonly string[];
}

/** Starts the compiled program of a testbed, tapped. */
export function startTapped(at: Testbed<'program'>, argv: readonly string[], options: TappedOptions): ChildProcess {
  const imports = (options.imports ?? []).flatMap((module) => ['--import', module]);
  const child = spawn(process.execPath, [...imports, join(packageRoot, 'dist/cmd/main.js'), ...argv], {
    cwd: at.folder,
    env: {
      PATH: process.env['PATH'],
      VENDOR_MIRROR_CONFIG: join(at.folder, 'mirror.yaml'),
      ...tapEnvironment({ ...options, folder: at.folder }),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export interface Watched {
  /** What it wrote on standard error so far. */
  readonly stderr: () => string;
  /** The address of its listener, when it says that it serves; undefined where it ends before. */
  readonly serving: Promise<string | undefined>;
}

export function watch(daemon: ChildProcess): Watched {
  let stderr = '';
  const serving = new Promise<string | undefined>((resolve) => {
    daemon.once('close', () => resolve(undefined));
    daemon.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const listener = /"listener":"([^"]+)".*"msg":"serving"/.exec(stderr)?.[1];
      if (listener !== undefined) resolve(listener);
    });
  });
  return { stderr: () => stderr, serving };
}

export interface Answer {
  /** The delivery's own number, in the journal as `user_id`. */
  readonly delivery: number;
  /** The port that it was sent from, and which answer on that connection was its own, from 1. */
  readonly port: number;
  readonly nth: number;
  /** undefined where none came. */
  readonly status: number | undefined;
}

/** Sends deliveries over some connections, each connection one after the other. Never fails: no answer is an answer too. */
export async function deliver(
  address: string,
  { numbers, lanes, vendorOf }: { numbers: readonly number[]; lanes: number; vendorOf: (number: number) => number },
): Promise<Answer[]> {
  const queue = numbers.values();
  const answers: Answer[] = [];
  const lane = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const acknowledged = new Map<number, number>();
    for (const number of queue) {
      const { status, port } = await send(address, number, vendorOf(number), agent);
      const nth = (acknowledged.get(port) ?? 0) + (status === 200 ? 1 : 0);
      acknowledged.set(port, nth);
      answers.push({ delivery: number, port, nth, status });
      if (status === undefined) break;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}

function send(
  address: string,
  number: number,
  vendorid: number,
  agent: Agent,
): Promise<{ status: number | undefined; port: number }> {
  const { method, headers, body } = signed({ ...delivery, object_id: String(vendorid), user_id: String(number) });
  return new Promise((resolve) => {
    let port = 0;
    const end = (status?: number): void => resolve({ status, port });
    const call = request(address, { method, agent, headers: { ...headers, 'content-length': body.length } });
    call.on('socket', (socket) => {
      const look = (): void => void (port = socket.localPort ?? 0);
      if (socket.connecting) socket.once('connect', look);
      else look();
    });
    call.on('response', (answer) => answer.resume().on('end', () => end(answer.statusCode)));
    call.on('error', () => end());
    call.end(body);
  });
}
