/** What a daemon runs besides its servers: the accounts, the clock jump detector, and maintenance. */
import { timestamp } from '../domain/clock.ts';
import type { Service } from '../domain/lifecycle.ts';
import { AccountServices, type AccountServicesOptions } from './account-services.ts';
import { createClockJumpDetector } from './background/clock-jumps.ts';
import { createMaintenance } from './background/maintenance.ts';

export interface DaemonServices {
  readonly accounts: AccountServices;
  /** In the order in which they start. */
  readonly services: readonly Service[];
}

/** Builds all of it; nothing runs yet. */
export async function daemonServices(options: AccountServicesOptions): Promise<DaemonServices> {
  const { installation, clock, log } = options;
  const { mirror, secrets, settings } = installation;
  const accounts = await AccountServices.open(options);
  const onJump = (ms: number): void => {
    const seconds = Math.round(ms / 1_000);
    log.warn({ seconds }, 'the clock jumped; all accounts are reconciled');
    accounts.reconcileAll(`At ${timestamp(clock.now())} the clock was found to have jumped by ${seconds} s.`);
  };
  const maintenance = createMaintenance({ mirror, secrets, retention: settings.retention, clock, log });
  return { accounts, services: [accounts, createClockJumpDetector({ clock, onJump }), maintenance] };
}
