/**
 * Whether lists and reads by id are still those of their account: a token or an address may lead to another one, whose vendors would be applied
 * as if this account had lost all of its own.
 *
 * One page that shows a stored vendor, by its name or by when it was created, proves it for the run. Before a page that shows none is
 * applied, stored vendors are read by id: one that is found proves it, too, since a list that shows new vendors first may begin with a page of
 * them. Beside the newest and the oldest active ones, these are some that were read last, of any state: where vendors come and go, those are
 * there most likely. Where none is found, three active ones among them, and a vendor of the page is, reads by id are answered and these vendors
 * are not here: a person has to say that they were replaced (`--accept-account`). Where the service reads no vendor by id, nothing can be
 * proven. An answer to a read by id that shows another vendor under a known number is proven in the same way before it is applied.
 */
import type { VendorsApi } from '../api/vendors.ts';
import { MirrorError } from '../domain/errors.ts';
import { acceptAccount, type VendorPage, type VendorRow } from '../domain/reading.ts';
import { readRetryLimits } from '../domain/retry.ts';
import type { Store } from '../store/mirror.ts';

/** So many stored vendors at least are not found in an account that is called another one. */
export const fewestStored = 3;

interface Requests {
  readonly signal: AbortSignal;
  readonly onRequest?: (() => void) | undefined;
}

interface AskOptions extends Requests {
  readonly priority?: 'background' | 'spare' | undefined;
}

/** The account that is asked, and what is known of it. */
interface Asked {
  readonly accountId: string;
  readonly mirror: Pick<Store, 'readings' | 'vendors'>;
  readonly vendors: Pick<VendorsApi, 'read'>;
}

interface Swept extends Asked {
  readonly reader: { readonly mayRead: boolean };
}

export class SameAccount {
  readonly #account: Swept;
  readonly #requests: Requests;
  #isSettled: boolean;

  /** @param isAccepted by a person */
  constructor(account: Swept, requests: Requests, isAccepted: boolean) {
    this.#account = account;
    this.#requests = requests;
    this.#isSettled = isAccepted;
  }

  /** @throws MirrorError `answer_unreadable` where the pages are of another account. */
  async assert(pages: readonly VendorPage[]): Promise<void> {
    const { mirror, accountId, reader } = this.#account;
    if (this.#isSettled) return;
    const rows = pages.flatMap((page) => page.rows);
    const [first] = rows;
    if (!first) return;
    const isKnown = await mirror.readings.showsStored(rows, accountId);
    if (!isKnown && reader.mayRead) await this.#readStored(first);
    this.#isSettled = true;
  }

  async #readStored({ vendorid }: VendorRow): Promise<void> {
    const options: AskOptions = { ...this.#requests, priority: 'background' };
    const known = await askStored(this.#account, options);
    if (known === 'shown' || known.notShown < fewestStored) return;
    const shown = await readAlone(this.#account, vendorid, options);
    if (shown === undefined || shown === 'refused') return;
    throw new MirrorError(
      'answer_unreadable',
      `The list shows only vendors that are new, and none of ${known.asked} known ones is found by its id: it may be of another account. Nothing of it was applied.`,
      { remedy: acceptAccount },
    );
  }
}

/**
 * Asserts that an answer to a read by id which shows another vendor under the number of a stored one is of this account: the service may have
 * given the number to another vendor, or a cache have answered.
 * @throws MirrorError `answer_unreadable` where no other stored vendor is shown as itself, although three active ones were asked for.
 */
export async function assertSameAccount(account: Asked, vendorid: number, options: AskOptions): Promise<void> {
  const known = await askStored(account, options, vendorid);
  if (known === 'shown' || known.notShown < fewestStored) return;
  throw new MirrorError(
    'answer_unreadable',
    `Vendor ${vendorid} has another name and another time of creation than before, and none of ${known.asked} other known ones is shown as itself: the answer may be of another account. Nothing of it was applied.`,
    { remedy: acceptAccount },
  );
}

/**
 * Reads stored vendors by id until one is shown as itself: some that are active, the newest and the oldest, and some that were read last, of any
 * state. Applies nothing.
 * @param except one that is not asked for
 * @returns else how many were asked for, and how many active ones are not found, or are others; nothing is asked where there are too few
 */
async function askStored(
  account: Asked,
  options: AskOptions,
  except?: number,
): Promise<'shown' | { readonly asked: number; readonly notShown: number }> {
  const { mirror, accountId } = account;
  const active = new Set(await mirror.vendors.someActive(accountId));
  if (except !== undefined) active.delete(except);
  if (active.size < fewestStored) return { asked: 0, notShown: 0 };
  const stored = new Set([...active, ...(await mirror.vendors.lastRead(accountId))]);
  if (except !== undefined) stored.delete(except);
  let notShown = 0;
  for (const id of stored) {
    const found = await readAlone(account, id, options);
    if (found !== undefined && found !== 'refused' && (await mirror.readings.showsStored([found], accountId)))
      return 'shown';
    // A deleted vendor may be found by no read.
    if (found !== 'refused' && active.has(id)) notShown += 1;
  }
  return { asked: stored.size, notShown };
}

/** The record; undefined for a vendor that is not there, `refused` where nothing is known. */
async function readAlone(
  { vendors }: Asked,
  vendorid: number,
  { signal, priority, onRequest }: AskOptions,
): Promise<VendorRow | 'refused' | undefined> {
  onRequest?.();
  try {
    const { row } = await vendors.read(vendorid, { signal, priority, retryLimits: readRetryLimits });
    return row;
  } catch (error) {
    if (signal.aborted || !(error instanceof MirrorError)) throw error;
    return error.code === 'not_found' ? undefined : 'refused';
  }
}
