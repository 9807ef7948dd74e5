/** One account, and everything that is needed to sync it. */
import type { VendorsApi } from '../../api/vendors.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import type { ServiceSettings, SyncSettings } from '../../settings/parse.ts';
import type { Log } from '../../domain/log.ts';
import type { VendorReader } from './vendor-reader.ts';
import type { Store } from '../../store/store.ts';

export interface SyncAccount {
  readonly accountId: string;
  /** The vendors at the service; `mirror` has the stored ones. */
  readonly vendors: VendorsApi;
  readonly mirror: Store;
  readonly reader: VendorReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sync: SyncSettings;
  /** The most requests at once. */
  readonly concurrency: number;
  readonly extraWalks: ServiceSettings['extraWalks'];
}
