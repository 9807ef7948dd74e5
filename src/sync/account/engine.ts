/** What all sync code of one account works with. */
import type { VendorsApi } from '../../api/vendors.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import type { ServiceSettings, SyncSettings } from '../../settings/parse.ts';
import type { Log } from '../../domain/log.ts';
import type { VendorReader } from './vendor-reader.ts';
import type { Store } from '../../store/store.ts';

export interface Engine {
  readonly accountId: string;
  readonly vendors: VendorsApi;
  readonly mirror: Store;
  readonly reader: VendorReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sync: SyncSettings;
  readonly concurrency: number;
  readonly extraWalks: ServiceSettings['extraWalks'];
}
