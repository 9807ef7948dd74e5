/** Checks the integrity of a mirror that was not closed cleanly, while the daemon already works with it. */
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { background } from '../../domain/async/background.ts';
import type { Log } from '../../domain/log.ts';
import { checkWholeFile } from '../../store/files/full-check.ts';

export interface IntegrityCheckOptions {
  /** The mirror. */
  readonly path: string;
  /** Why it must be checked; undefined where it need not be. */
  readonly reason: string | undefined;
  readonly log: Log;
  /** The mirror is damaged: the process must end. The next one moves the file aside. */
  readonly onFatal: (error: MirrorError) => void;
}

export interface IntegrityCheck extends Service {
  /** Whether the file passed the check, or was closed cleanly. */
  readonly passed: boolean;
}

export function createIntegrityCheck({ path, reason, log, onFatal }: IntegrityCheckOptions): IntegrityCheck {
  let passed = reason === undefined;

  const check = async (signal: AbortSignal): Promise<void> => {
    log.info({ reason }, 'checking the integrity of the mirror');
    try {
      const faults = await checkWholeFile(path, signal);
      passed = faults.length === 0;
      if (passed) log.info('the mirror passed the integrity check');
      else onFatal(new MirrorError('database_corrupt', `${path} is damaged: ${faults.join('; ')}.`));
    } catch (error) {
      if (!signal.aborted) log.warn({ err: asMirrorError(error) }, 'the integrity check could not be finished');
    }
  };

  const service = background('the integrity check', check);
  return {
    ...service,
    get passed() {
      return passed;
    },
    start: () => (passed ? Promise.resolve() : service.start()),
  };
}
