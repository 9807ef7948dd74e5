/** What a person may ask of the daemon by its page: the runs of its own supervisors, and the same retry as the command's. */
import type { Actions } from '../admin/api/actions-api.ts';
import type { Log } from '../domain/log.ts';
import type { Store } from '../store/store.ts';
import type { AccountSupervisor } from './account-supervisor.ts';

export interface OperatorParts {
  readonly accounts: {
    readonly activeIds: readonly string[];
    active(accountId: string): Pick<AccountSupervisor, 'ask' | 'nudge'> | undefined;
  };
  readonly mirror: Pick<Store, 'deliveries'>;
  readonly log: Log;
}

export function operatorActions({ accounts, mirror, log }: OperatorParts): Actions {
  return {
    get accounts() {
      return accounts.activeIds;
    },
    run(account, kind, approved = 0) {
      log.info({ account, kind, approved }, 'a run was requested on the dashboard');
      accounts.active(account)?.ask(kind, approved);
    },
    async retry(account) {
      const marked = await mirror.deliveries.retryParked({ account });
      log.info({ account, marked }, 'a retry of parked vendors was requested on the dashboard');
      accounts.active(account)?.nudge();
      return marked;
    },
  };
}
