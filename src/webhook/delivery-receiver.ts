/**
 * Receives the POSTs to an account's callback address: parses them, verifies the signature and journals deliveries. Never waits for the
 * network.
 *
 * Deliveries that arrive in one turn of the event loop share a commit. Beyond 1,000 waiting ones the answer is 503, and the service sends
 * them again. Beyond 10,000 marked vendors in an account, deliveries are only journalled, and settled by a sweep that begins after them. One
 * about a vendor whose id it does not give asks for a sweep too.
 */
import type { Clock } from '../domain/clock.ts';
import { inBatches } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import type { HttpRequest } from '../http/server.ts';
import type { Deliveries, NewDelivery } from '../store/deliveries.ts';
import type { Verifiers } from '../store/secrets/verifiers.ts';
import {
  isDigest,
  parseForm,
  readDelivery,
  readHandshake,
  SignatureCheck,
  signatureIn,
  signatureNames,
  type Code,
  type Delivery,
  type Pairs,
} from './delivery.ts';

export interface DeliveryReceiverOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly mirror: Pick<Deliveries, 'acceptDeliveries'>;
  readonly verifiers: Pick<Verifiers, 'usable' | 'offer' | 'keyOrders' | 'keepKeyOrder'>;
  /** `service.signatureHeader` of the settings. */
  readonly signatureHeader: string;
  /** Called when a delivery is on disk. */
  readonly onDelivery: (accountId: string) => void;
  /** Called when a verification code is on disk and can be tried. */
  readonly onCode: (accountId: string) => void;
  /** Called when an account gets several deliveries and none is signed with a stored key: the key is lost, or they are a stranger's. */
  readonly onWrongSignatures: (accountId: string) => void;
  /** Called for each refused request to an account; `detail` says what was wrong, and contains nothing secret. */
  readonly onRefused: (accountId: string, outcome: Outcome | 'wrong_code', detail: string | null) => void;
}

interface Address {
  /** Not at one that a rotation replaces: the awaited callbacks lead to the new one. */
  readonly takesCodes: boolean;
}

/** The most requests that may be handled at once, and deliveries that may wait for a commit. */
const capacity = 1_000;

export class DeliveryReceiver {
  readonly #options: DeliveryReceiverOptions;
  readonly #commits: GroupCommit;
  readonly #signatures: SignatureCheck;
  readonly #monitor: SignatureMonitor;
  #isRefusing = false;
  /** Requests that are handled, also those that were answered meanwhile. */
  #underWay = 0;

  constructor(options: DeliveryReceiverOptions) {
    this.#options = options;
    const { clock, mirror, verifiers, onWrongSignatures } = options;
    this.#commits = new GroupCommit({ clock, commit: (list) => mirror.acceptDeliveries(list) });
    this.#signatures = new SignatureCheck(clock, verifiers);
    this.#monitor = new SignatureMonitor(clock, onWrongSignatures);
  }

  /**
   * Handles one POST. Never throws: our own failures are `unavailable`, so that the service sends it again; and so is what a server does not
   * confirm while the service waits. That may still be stored afterwards: a session is not left before its answer.
   */
  async receive(accountId: string, request: HttpRequest, address: Address): Promise<Outcome> {
    try {
      const handled = await this.#inTime(() => this.#handle(accountId, request, address));
      const { outcome, detail = null } = typeof handled === 'string' ? { outcome: handled } : handled;
      if (outcome === 'accepted') this.#report(undefined);
      if (statusOf[outcome] >= 400) this.#options.onRefused(accountId, outcome, detail);
      this.#options.log.debug({ account: accountId, outcome, ...(detail !== null && { detail }) }, 'a request came');
      return outcome;
    } catch (error) {
      const problem = asMirrorError(error);
      const outcome = problem.code === 'rate_limited' ? 'overloaded' : 'unavailable';
      if (outcome === 'unavailable') this.#report(problem);
      this.#options.onRefused(accountId, outcome, null);
      return outcome;
    }
  }

  /** @throws MirrorError `rate_limited` where too many are under way, `database_locked` after the time for an answer. */
  async #inTime<T>(handle: () => Promise<T> | T): Promise<T> {
    if (this.#underWay >= capacity) throw new MirrorError('rate_limited', 'Too many deliveries wait for the mirror.');
    this.#underWay += 1;
    const handling = Promise.resolve()
      .then(handle)
      .finally(() => (this.#underWay -= 1));
    return await new Promise((resolve, reject) => {
      const cancel = this.#options.clock.timer(limits.deliveryAnswer, () =>
        reject(new MirrorError('database_locked', 'The mirror did not confirm a delivery in time.')),
      );
      handling.then(resolve, reject).finally(cancel);
    });
  }

  #handle(accountId: string, request: HttpRequest, { takesCodes }: Address): Promise<Handled> | Handled {
    const form = parseForm(request.body);
    const handshake = readHandshake({ query: [...request.query], form: form ?? [], body: request.body });
    if (handshake === 'malformed') return { outcome: handshake, detail: 'a verification without a code' };
    if (handshake) return takesCodes ? this.#storeCode(accountId, handshake) : 'unexpected_code';
    if (!form) return { outcome: 'malformed', detail: 'not UTF-8 text' };
    // Only verifications may be JSON: deliveries are forms.
    if (request.headers['content-type']?.includes('json')) return { outcome: 'wrong_type', detail: 'JSON' };
    const delivery = readDelivery(form);
    if (delivery === undefined) return { outcome: 'malformed', detail: 'parameters are missing or repeated' };
    if (delivery.accountId !== accountId) return { outcome: 'malformed', detail: otherAccount };
    const signature = signatureIn(request.rawHeaders, this.#options.signatureHeader);
    if (signature === undefined) return { outcome: 'unsigned', detail: signatureNames(request.rawHeaders) };
    return this.#acceptSigned(delivery, form, signature);
  }

  async #storeCode(accountId: string, { verifier, callbackid, accountId: named }: Code): Promise<Handled> {
    if (named !== undefined && named !== accountId) return { outcome: 'malformed', detail: otherAccount };
    switch (await this.#options.verifiers.offer(accountId, verifier, callbackid)) {
      case 'not_awaited':
        return 'unexpected_code';
      case 'displaced':
        this.#options.onRefused(accountId, 'wrong_code', null);
        this.#options.onCode(accountId);
        return 'verification';
      case 'kept':
        this.#options.onCode(accountId);
        return 'verification';
      case 'known':
        return 'verification';
    }
  }

  async #acceptSigned(delivery: Delivery, form: Pairs, signature: string): Promise<Handled> {
    const { accountId, objectId } = delivery;
    const verifiers = await this.#options.verifiers.usable(accountId);
    if (!(await this.#signatures.isSigned(accountId, form, signature, verifiers))) {
      this.#monitor.wrong(accountId);
      const detail = isDigest(signature) ? null : 'the signature is not the base64 of a SHA-256 digest';
      return { outcome: 'wrong_signature', detail: verifiers.length === 0 ? 'no key is stored' : detail };
    }
    this.#monitor.correct(accountId);
    const isAbout = isAboutVendors(delivery.name);
    const receivedAt = this.#options.clock.now();
    await this.#commits.add({
      ...delivery,
      vendorid: isAbout ? objectId : null,
      asksForSweep: isAbout && objectId === null,
      receivedAt,
    });
    this.#options.log.debug({ account: accountId, event: delivery.name, id: objectId }, 'a delivery is journalled');
    if (!isAbout) return 'ignored';
    this.#options.onDelivery(accountId);
    return 'accepted';
  }

  /** Logs once when deliveries begin to be refused and once when they are accepted again. */
  #report(problem: MirrorError | undefined): void {
    if (this.#isRefusing === (problem !== undefined)) return;
    this.#isRefusing = problem !== undefined;
    if (problem) this.#options.log.error({ code: problem.code }, `deliveries are refused: ${problem.message}`);
    else this.#options.log.info('deliveries are accepted again');
  }
}

/** The outcome of a request, and what was wrong with it. */
type Handled = Outcome | { readonly outcome: Outcome; readonly detail: string | null };

const otherAccount = 'another account is named than that of the address';

/** The outcomes of requests to the listener, each with its HTTP status. */
export const statusOf = {
  /** A delivery: journalled, and its vendor marked, or a sweep requested. */
  accepted: 200,
  /** A correctly signed delivery that is not about a vendor: journalled. */
  ignored: 200,
  /** A verification code: kept until the service confirms it. */
  verification: 200,
  malformed: 400,
  /** No signature, or several. */
  unsigned: 400,
  /** Broke the protocol, or was too slow (400, 408, 431). */
  broken: 400,
  wrong_signature: 401,
  /** A code that was not awaited. */
  unexpected_code: 403,
  unknown_path: 404,
  wrong_method: 405,
  too_large: 413,
  wrong_type: 415,
  /** Too many deliveries wait. */
  overloaded: 503,
  /** The database is locked or the disk full, or an error of our own. */
  unavailable: 503,
} as const;

export type Outcome = keyof typeof statusOf;

const refusals: Readonly<Record<number, Outcome>> = {
  404: 'unknown_path',
  405: 'wrong_method',
  413: 'too_large',
  415: 'wrong_type',
};

/** The outcome of a refusal by the server, before the body was read. */
export function outcomeOfRefusal(status: number): Outcome {
  return refusals[status] ?? 'broken';
}

export interface GroupCommitOptions {
  readonly clock: Clock;
  readonly commit: (deliveries: readonly NewDelivery[]) => Promise<void>;
}

/**
 * Deliveries that arrive together share one commit, because waiting for the disk costs as much for one as for a hundred. None is
 * acknowledged before its commit is on disk.
 */
export class GroupCommit {
  readonly #commit: (delivery: NewDelivery) => Promise<void>;

  constructor({ clock, commit }: GroupCommitOptions) {
    this.#commit = inBatches(clock, async (group) => {
      await commit(group);
      return group.map(() => undefined);
    });
  }

  /** Journals a delivery; resolves when it is on disk. @throws whatever `commit` throws. */
  add(delivery: NewDelivery): Promise<void> {
    return this.#commit(delivery);
  }
}

const window = 3_600_000;
const tooMany = 5;

/** Reports an account that gets only wrongly signed deliveries: several within an hour, and no correct one in between. */
export class SignatureMonitor {
  readonly #clock: Clock;
  readonly #onWrongSignatures: (accountId: string) => void;
  /** Times of wrong signatures since the last correct one, by account; at most `tooMany` within the window. */
  readonly #wrong = new Map<string, number[]>();

  /** `onWrongSignatures` is called at most once an hour for each account. */
  constructor(clock: Clock, onWrongSignatures: (accountId: string) => void) {
    this.#clock = clock;
    this.#onWrongSignatures = onWrongSignatures;
  }

  correct(accountId: string): void {
    this.#wrong.delete(accountId);
  }

  wrong(accountId: string): void {
    const now = this.#clock.monotonic();
    const recent = (this.#wrong.get(accountId) ?? []).filter((at) => now - at < window);
    this.#wrong.set(accountId, recent);
    // No more are kept until the first of them is an hour old, so that the next report is due then.
    if (recent.length >= tooMany) return;
    recent.push(now);
    if (recent.length === tooMany) this.#onWrongSignatures(accountId);
  }
}
