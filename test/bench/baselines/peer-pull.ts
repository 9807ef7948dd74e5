/** Every page fetched, and its vendors handed to the peer, which inserts or updates each in one table of PostgreSQL. No history, and no proof. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { textFields } from '../../../src/domain/vendor.ts';
import { eachPage, type WireVendor } from './bare-get.ts';
import { timed } from './bare-mirror.ts';
import type { Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { peerPackage, type Peer } from '../setup/peer.ts';

/** What is used of the package. */
interface StripeSync {
  readonly postgresClient: {
    query(sql: string): Promise<unknown>;
    upsertManyWithTimestampProtection(
      entries: readonly object[],
      table: string,
      schema: { readonly properties: readonly string[] },
      timestamp: string,
    ): Promise<unknown>;
    close(): Promise<void>;
  };
}
type StripeSyncClass = new (options: {
  readonly schema: string;
  readonly stripeSecretKey: string;
  readonly stripeWebhookSecret: string;
  readonly poolConfig: {
    readonly host: string;
    readonly user: string;
    readonly database: string;
    readonly max: number;
  };
}) => StripeSync;

const lists = ['outstanding_balance', 'overdue_balance', 'tax_defaults'] as const;
const properties = ['id', ...textFields, 'is_1099', 'vis_state', ...lists];

export async function job({ peer, ...place }: Place & { readonly peer: Peer }): Promise<JobResult> {
  return { result: await timed(() => pull(place, peer)) };
}

async function pull(place: Place, { folder, socket, user }: Peer): Promise<void> {
  const load = createRequire(join(folder, 'package.json'));
  const { StripeSync } = load(peerPackage) as { readonly StripeSync: StripeSyncClass };
  const { postgresClient } = new StripeSync({
    schema: 'mirror',
    stripeSecretKey: 'none',
    stripeWebhookSecret: 'none',
    poolConfig: { host: socket, user, database: 'postgres', max: 10 },
  });
  await postgresClient.query(`
    DROP SCHEMA IF EXISTS mirror CASCADE;
    CREATE SCHEMA mirror;
    CREATE TABLE mirror.vendors (
      id text PRIMARY KEY, ${textFields.map((field) => `"${field}" text`).join()}, is_1099 boolean, vis_state integer,
      ${lists.map((name) => `${name} jsonb`).join()}, last_synced_at timestamptz)`);
  await eachPage(
    place,
    () => new Date().toISOString(),
    ({ response }, began) =>
      postgresClient.upsertManyWithTimestampProtection(
        response.result.bill_vendors.map(entryOf),
        'vendors',
        { properties },
        began,
      ),
  );
  await postgresClient.close();
}

/** Its tables are keyed by `id`, a text. */
function entryOf(vendor: WireVendor): object {
  return { ...vendor, id: String(vendor.vendorid) };
}
