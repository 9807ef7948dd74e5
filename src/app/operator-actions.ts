/** What a person may ask of the daemon by its page: the runs of its own supervisors, and the same retry as the command's. */
import type { Actions } from '../admin/api/actions-api.ts';
import type { Log } from '../domain/log.ts';
import type { Store } from '../store/store.ts';
import type { AccountSupervisor } from './account-supervisor.ts';

export interface OperatorParts {
  readonly supervisors: ReadonlyMap<string, Pick<AccountSupervisor, 'ask' | 'nudge'>>;
  readonly mirror: Pick<Store, 'deliveries'>;
  readonly log: Log;
}

export function operatorActions({ supervisors, mirror, log }: OperatorParts): Actions {
  return {
    accounts: [...supervisors.keys()],
    run(account, kind, approved = 0) {
      log.info({ account, kind, approved }, 'a person asked for a run on the page');
      supervisors.get(account)?.ask(kind, approved);
    },
    async retry(account) {
      const marked = await mirror.deliveries.retryParked({ account });
      log.info({ account, marked }, 'a person asked on the page to retry what was parked');
      supervisors.get(account)?.nudge();
      return marked;
    },
  };
}
