/** What every job on one account works with. */
import type { VendorsApi } from '../api/vendors.ts';
import type { Clock, Dice } from '../clock.ts';
import type { ServiceSettings, SyncSettings } from '../config.ts';
import type { Log } from '../log.ts';
import type { Mirror } from '../store/mirror.ts';
import type { OneReader } from './read-one.ts';

export interface Engine {
  readonly accountId: string;
  readonly vendors: VendorsApi;
  readonly mirror: Mirror;
  readonly reader: OneReader;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly log: Log;
  readonly sync: SyncSettings;
  readonly concurrency: number;
  readonly extraWalks: ServiceSettings['extraWalks'];
}
