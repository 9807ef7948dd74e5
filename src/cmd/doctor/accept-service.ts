/** `doctor --accept-service`: lets a mirror belong to a service at another address, once its vendors have been compared. */
import { MirrorError } from '../../domain/errors.ts';
import type { Installation, ServedAccount } from '../../app/installation.ts';
import type { VendorRow } from '../../domain/reading.ts';
import { isConfirmed } from '../terminal/prompt.ts';
import { fine, problem, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';
import type { VendorTraits } from '../../store/records/scanned-vendor.ts';

/** How the vendors of a sample stand to those of the mirror. */
interface Comparison {
  /** The same number, and created at the same time. */
  readonly alike: number;
  /** The same number, but a different vendor. */
  readonly others: number;
  /** Not in the mirror. */
  readonly unknown: number;
}

/**
 * Compares the first page of each account with the mirror, asks, and makes the mirror belong to the service.
 * @throws MirrorError of the service; `usage` if there is no terminal to ask on.
 */
export async function acceptService(
  context: ProcessContext,
  installation: Installation,
  yes: boolean | undefined,
): Promise<Checkup> {
  const check = 'service';
  const { mirror, serviceName } = installation;
  const { service: known } = await mirror.identity();
  if (known === null || known === serviceName) return fine(check, `The mirror already belongs to ${serviceName}.`);
  const compared = await compareAll(installation, context.interrupted);
  const facts = `The mirror belongs to ${known}. At ${serviceName}, of ${total(compared)} vendors ${compared.alike} are the same, ${compared.others} are different ones with the same number, ${compared.unknown} are not in the mirror.`;
  const accepted =
    yes && !isLikely(compared)
      ? false
      : await isConfirmed(context, () => Promise.resolve(`${facts} Is it the same service?`), yes);
  if (!accepted)
    return problem(check, new MirrorError('other_service', `${facts} It was not accepted as the same service.`));
  await mirror.acceptService(serviceName);
  return fine(check, `${facts} From now on the mirror belongs to ${serviceName}.`);
}

function total({ alike, others, unknown }: Comparison): number {
  return alike + others + unknown;
}

/** Whether it is clearly the same service: most of the sample is the same, and almost none is a different vendor. */
function isLikely(compared: Comparison): boolean {
  return compared.alike > total(compared) / 2 && compared.others * 20 <= compared.alike;
}

async function compareAll(installation: Installation, signal: AbortSignal): Promise<Comparison> {
  const sum = { alike: 0, others: 0, unknown: 0 };
  for (const id of installation.accounts) {
    const part = await compare(installation, installation.account(id), signal);
    sum.alike += part.alike;
    sum.others += part.others;
    sum.unknown += part.unknown;
  }
  return sum;
}

async function compare(
  { mirror }: Installation,
  { accountId, client }: ServedAccount,
  signal: AbortSignal,
): Promise<Comparison> {
  const { rows } = await client.vendors.page(1, { signal });
  const traits = await mirror.vendors.traits(
    accountId,
    rows.map(({ vendorid }) => vendorid),
  );
  const known = new Map(traits.map((one) => [one.vendorid, one]));
  const found = rows.flatMap((row) => {
    const held = known.get(row.vendorid);
    return held ? [isSame(row, held)] : [];
  });
  const alike = found.filter(Boolean).length;
  return { alike, others: found.length - alike, unknown: rows.length - found.length };
}

/** A vendor keeps the time at which it was created; where none is told, its name has to do. */
function isSame(row: VendorRow, held: VendorTraits): boolean {
  const { created_at, vendor_name } = row.vendor();
  if (created_at && held.created_at) return created_at === held.created_at;
  return vendor_name === held.vendor_name;
}
