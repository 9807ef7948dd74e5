/** The one way to set up a test: `level` says how much stands. All of it is closed with the test, and what stays open fails it. */

import { refuseLeaks } from './testbed/leaks.ts';

const levels = {
  /** The sandbox, reached without sockets. */
  service: async () => (await import('./testbed/service.ts')).openService,
  /** The sandbox on a port of its own, behind real HTTP. */
  sandbox: async () => (await import('./testbed/sandbox.ts')).openSandbox,
  /** A mirror file to which readings are handed one by one. */
  store: async () => (await import('./testbed/store.ts')).openStore,
  /** An installation beside a sandbox: pulls of one or several accounts. */
  account: async () => (await import('./testbed/account.ts')).openAccount,
  /** Files and a listener on a real socket, without a service. */
  listener: async () => (await import('./testbed/listener.ts')).openListener,
  /** The same with a subscription manager, and a sandbox behind real sockets. */
  webhook: async () => (await import('./testbed/webhook.ts')).openWebhook,
  /** A daemon beside a sandbox, in one process. */
  daemon: async () => (await import('./testbed/daemon.ts')).openDaemonTestbed,
  /** Commands in this process, their output and exit codes. */
  command: async () => (await import('./testbed/command.ts')).openCommand,
  /** The compiled program in processes of its own. */
  program: async () => (await import('./testbed/program.ts')).openProgram,
} as const;

type Open<L extends Level> = Awaited<ReturnType<(typeof levels)[L]>>;
export type Level = keyof typeof levels;
/** Options of a testbed, besides its level. */
export type TestbedOptions<L extends Level> = Parameters<Open<L>> extends [infer Options] ? Options : unknown;
/** What stands at a level. */
export type Testbed<L extends Level> = Awaited<ReturnType<Open<L>>>;

export async function testbed<L extends Level>({
  level,
  ...options
}: { readonly level: L } & TestbedOptions<L>): Promise<Testbed<L>> {
  refuseLeaks();
  const open = (await levels[level]()) as unknown as (options: unknown) => Promise<Testbed<L>>;
  return open(options);
}
