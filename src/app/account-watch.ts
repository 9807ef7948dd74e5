/** Applies what commands changed about accounts to a running daemon, at once. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../domain/clock.ts';
import { background, repeatedly } from '../domain/async/background.ts';
import { asMirrorError } from '../domain/errors.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import type { KeptAccounts } from '../settings/kept-accounts.ts';
import type { Store } from '../store/store.ts';

export interface AccountWatchOptions {
  readonly mirror: Pick<Store, 'accountRegister'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called at the start and after each change; called again if it fails. */
  readonly onChange: (kept: KeptAccounts) => Promise<void>;
}

/** How often it looks, in milliseconds. */
const checkEvery = 1_000;

export function createAccountWatch({ mirror, clock, log, onChange }: AccountWatchOptions): Service {
  let known: KeptAccounts | undefined;
  let isFailing = false;
  const check = async (): Promise<void> => {
    try {
      const kept = await mirror.accountRegister.kept();
      if (kept === known) return;
      if (!isDeepStrictEqual(kept, known)) await onChange(kept);
      known = kept;
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: asMirrorError(error) }, 'changes of accounts cannot be applied yet');
      isFailing = true;
    }
  };
  return background('the account watch', (signal) => repeatedly(clock, checkEvery, signal, check));
}
