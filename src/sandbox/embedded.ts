/** A sandbox on a local port inside another program: for `serve`, the sandbox command and tests. */
import type { Clock } from '../domain/clock.ts';
import { fetchPost, type Fetch } from './delivery/fetch-sender.ts';
import { serveSandbox } from './http-service.ts';
import { openWorldFile } from './world-file.ts';
import { Sandbox, type SandboxOptions } from './service.ts';

export interface EmbeddedOptions extends Omit<SandboxOptions, 'accounts' | 'token'> {
  /** One or more accounts, each with as many vendors at first. */
  readonly account?: string | readonly string[];
  readonly token?: string;
  /** 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly clock: Clock;
  /** The file in which the world is kept, so that a second start finds it as it was left; default: none. */
  readonly file?: string;
  /** Carries deliveries. */
  readonly fetch: Fetch;
  /** Called with faults of the sandbox itself. */
  readonly onFault?: (error: unknown) => void;
}

export interface EmbeddedSandbox {
  readonly baseUrl: string;
  /** Its own name, whatever its port; empty where its world is not kept. */
  readonly id: string;
  readonly token: string;
  /** The first account. */
  readonly account: string;
  readonly sandbox: Sandbox;
  readonly stop: () => Promise<void>;
}

const sandboxAccount = '6BApk';
/** Valid in sandboxes only. */
export const sandboxToken = 'sandbox-token';

/** Starts a sandbox. Throws `port_taken`. */
export async function startEmbeddedSandbox(options: EmbeddedOptions): Promise<EmbeddedSandbox> {
  const { clock, fetch, host = '127.0.0.1', port = 0, token = sandboxToken } = options;
  const accounts = [options.account ?? sandboxAccount].flat();
  const world =
    options.file === undefined ? undefined : openWorldFile(options.file, options.seed ?? '', options.world?.records);
  const sandbox = new Sandbox(
    { ...options, accounts, token, ...(world && { memory: world }) },
    { clock, post: fetchPost(fetch, clock) },
  );
  const onFault = options.onFault ?? (() => undefined);
  const server = serveSandbox(sandbox, { host, port, clock, onFault });
  try {
    await server.start();
  } catch (error) {
    sandbox.stop();
    world?.close();
    throw error;
  }
  return {
    id: world?.id ?? '',
    baseUrl: `http://${host}:${server.address.port}`,
    token,
    account: accounts[0] ?? sandboxAccount,
    sandbox,
    stop: async () => {
      sandbox.stop();
      await server.stop();
      world?.close();
    },
  };
}
