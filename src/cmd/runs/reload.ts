/** SIGHUP: the daemon reads its settings again. */
import type { Daemon } from '../../app/daemon.ts';
import type { Log } from '../../domain/log.ts';
import { changedKeys } from '../../settings/changed-keys.ts';
import type { Settings } from '../../settings/parse.ts';
import type { Call } from '../process/command.ts';
import { loadSettings } from '../setup/load-settings.ts';

export interface Reload {
  readonly daemon: Pick<Daemon, 'use'>;
  /** The settings with which it was started, as written in their file. */
  readonly started: Settings;
  /** The same as the daemon works with them. */
  readonly inUse: Settings;
  readonly log: Log;
}

/**
 * Accounts, connections and tokens are taken at once; other keys that changed are named, because they need a new start. Settings that are
 * wrong change nothing. Never throws.
 */
export async function reload(call: Call, { daemon, started, inUse, log }: Reload): Promise<void> {
  try {
    const read = loadSettings(call);
    // The token of the built-in sandbox is not in the settings.
    const connections = inUse.sandbox === null ? read.connections : inUse.connections;
    await daemon.use({ ...read, connections });
    log.info('SIGHUP: settings and tokens were read again, callbacks are checked');
    const keys = changedKeys(started, read);
    if (keys.length > 0)
      log.warn({ keys }, `SIGHUP: these settings have changed and need a restart: ${keys.join(', ')}`);
  } catch (error) {
    log.error({ err: error }, 'SIGHUP: the new settings cannot be used; the old ones stay');
  }
}
