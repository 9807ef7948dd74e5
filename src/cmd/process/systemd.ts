/** Notifies systemd of the state of the daemon, if its unit has `Type=notify`. */
import { execFile } from 'node:child_process';
import type { Log } from '../../domain/log.ts';
import type { ProcessContext } from './process-context.ts';

/** Longer than a program takes that sends one datagram, in milliseconds. */
const notifyTimeout = 5_000;

/** LazyAction not wait: the daemon works whether or not systemd gets the message. */
export function notifySystemd(
  state: 'READY=1' | 'STOPPING=1' | 'WATCHDOG=1',
  { env }: Pick<ProcessContext, 'env'>,
  log: Log,
): void {
  const { NOTIFY_SOCKET, PATH } = env;
  if (!NOTIFY_SOCKET) return;
  // Node.js has no datagrams over Unix sockets. The rest of the environment may hold secrets.
  execFile('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, timeout: notifyTimeout }, (error) => {
    if (error) log.warn({ err: error }, `systemd could not be notified: ${state}`);
  });
}

/**
 * Tells systemd again and again that the daemon lives, twice within each `WatchdogSec` of its unit; nothing where it asks for none. A daemon
 * whose event loop stands still, or that is not `alive`, says nothing, and is restarted.
 * @returns ends it
 */
export function feedWatchdog(
  { env, clock }: Pick<ProcessContext, 'env' | 'clock'>,
  alive: () => boolean,
  log: Log,
): () => void {
  const microseconds = Number(env['WATCHDOG_USEC']);
  if (!env['NOTIFY_SOCKET'] || !(microseconds > 0)) return () => undefined;
  const feed = (): void => {
    if (alive()) notifySystemd('WATCHDOG=1', { env }, log);
    cancel = clock.timer(microseconds / 2_000, feed);
  };
  let cancel = clock.timer(microseconds / 2_000, feed);
  return () => cancel();
}
