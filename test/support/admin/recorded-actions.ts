/** Actions that do nothing but note what was asked. */
import type { Actions } from '../../../src/admin/api/actions-api.ts';

export interface RecordedActions extends Actions {
  readonly asked: (readonly unknown[])[];
}

/** For these accounts; `parked` vendors wait for a retry. */
export function recordActions(accounts: readonly string[] = ['6BApk'], parked = 0): RecordedActions {
  const asked: (readonly unknown[])[] = [];
  return {
    asked,
    accounts,
    refusal: undefined,
    run: (...wish) => void asked.push(wish),
    retry(account) {
      asked.push([account, 'retry']);
      return Promise.resolve(parked);
    },
  };
}
