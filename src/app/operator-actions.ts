/** What a person may do on the dashboard: request runs, and retry parked vendors as the command does. */
import type { Actions } from '../admin/api/actions-api.ts';
import type { Log } from '../domain/log.ts';
import type { Store } from '../store/store.ts';
import type { AccountSupervisor } from './account-supervisor.ts';

export interface OperatorParts {
  readonly accounts: {
    readonly activeIds: readonly string[];
    active(accountId: string): Pick<AccountSupervisor, 'requestRun' | 'wakeWorker'> | undefined;
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
      accounts.active(account)?.requestRun(kind, approved);
    },
    async retry(account) {
      const marked = await mirror.deliveries.retryParked({ account });
      log.info({ account, marked }, 'a retry of parked vendors was requested on the dashboard');
      accounts.active(account)?.wakeWorker();
      return marked;
    },
  };
}
