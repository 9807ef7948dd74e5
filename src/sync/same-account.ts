/**
 * Whether the lists of a run are still those of its account: a token or an address may lead to another one, whose vendors would be applied as if
 * this account had lost all of its own.
 *
 * One page that shows a stored vendor, by its name or by when it was created, proves it for the run. Before a page that shows none is
 * applied, stored vendors are read by id: one that is found proves it, too, since a list that shows new vendors first may begin with a page of
 * them. Beside the newest and the oldest active ones, these are some that were read last, of any state: where vendors come and go, those are
 * there most likely. Where none is found, three active ones among them, and a vendor of the page is, reads by id are answered and these vendors
 * are not here: a person has to say that they were replaced (`--accept-account`). Where the service reads no vendor by id, nothing can be
 * proven.
 */
import { MirrorError } from '../domain/errors.ts';
import { acceptAccount } from '../domain/reading.ts';
import { readRetryLimits } from '../domain/retry.ts';
import type { VendorPage, VendorRow } from '../domain/reading.ts';
import type { SyncAccount } from './sync-account.ts';

/** So many stored vendors at least are not found in an account that is called another one. */
export const fewestStored = 3;

interface Requests {
  readonly signal: AbortSignal;
  readonly onRequest: () => void;
}

export class SameAccount {
  readonly #account: SyncAccount;
  readonly #requests: Requests;
  #isSettled: boolean;

  /** @param isAccepted by a person */
  constructor(account: SyncAccount, requests: Requests, isAccepted: boolean) {
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
    const { mirror, accountId } = this.#account;
    const active = new Set(await mirror.vendors.someActive(accountId));
    if (active.size < fewestStored) return;
    const stored = new Set([...active, ...(await mirror.vendors.lastRead(accountId))]);
    let notFound = 0;
    for (const id of stored) {
      const found = await this.#read(id);
      if (found !== undefined && found !== 'refused' && (await mirror.readings.showsStored([found], accountId))) return;
      // A deleted vendor may be found by no read.
      if (found !== 'refused' && active.has(id)) notFound += 1;
    }
    const shown = await this.#read(vendorid);
    if (notFound < fewestStored || shown === undefined || shown === 'refused') return;
    throw new MirrorError(
      'answer_unreadable',
      `The list shows only vendors that are new, and none of ${stored.size} known ones is found by its id: it may be of another account. Nothing of it was applied.`,
      { remedy: acceptAccount },
    );
  }

  /** The record; undefined for a vendor that is not there, `refused` where nothing is known. */
  async #read(vendorid: number): Promise<VendorRow | 'refused' | undefined> {
    const { signal, onRequest } = this.#requests;
    onRequest();
    try {
      const { row } = await this.#account.vendors.read(vendorid, {
        signal,
        priority: 'background',
        retryLimits: readRetryLimits,
      });
      return row;
    } catch (error) {
      if (signal.aborted || !(error instanceof MirrorError)) throw error;
      return error.code === 'not_found' ? undefined : 'refused';
    }
  }
}
