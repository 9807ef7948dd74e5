/**
 * Receives the POSTs to an account's callback address: parses them, verifies the signature and journals deliveries. Never waits for the
 * network.
 */
import type { Clock } from '../../domain/clock.ts';
import { asMirrorError, type MirrorError } from '../../domain/errors.ts';
import type { HttpRequest } from '../../http/server.ts';
import type { Log } from '../../domain/log.ts';
import type { Verifiers } from '../../store/secrets/verifiers.ts';
import { SignatureMonitor } from './signature-monitor.ts';
import { readDelivery, vendorOf, type Delivery } from './delivery.ts';
import { parseForm } from './form.ts';
import { GroupCommit } from './group-commit.ts';
import { readHandshake, type Code } from './handshake.ts';
import { VerifierCache } from './verifier-cache.ts';
import type { Outcome } from './outcomes.ts';
import { signatureIn } from './signature-header.ts';
import { isSigned } from './signature.ts';
import type { Deliveries } from '../../store/areas/areas.ts';

export interface DeliveryReceiverOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly mirror: Pick<Deliveries, 'acceptDeliveries'>;
  readonly verifiers: Pick<Verifiers, 'usable' | 'offer'>;
  /** `service.signatureHeader` of the settings. */
  readonly signatureHeader: string;
  /** Called when a delivery is on disk. */
  readonly onDelivery: (accountId: string) => void;
  /** Called when a verification code is on disk and can be tried. */
  readonly onCode: (accountId: string) => void;
  /** Called when an account gets several deliveries and none is signed with a stored key. */
  readonly onWrongSignatures: (accountId: string) => void;
}

/** The most deliveries that may wait for a commit. */
const capacity = 1_000;

export class DeliveryReceiver {
  readonly #options: DeliveryReceiverOptions;
  readonly #commits: GroupCommit;
  readonly #verifierCache: VerifierCache;
  readonly #monitor: SignatureMonitor;
  #isRefusing = false;

  constructor(options: DeliveryReceiverOptions) {
    this.#options = options;
    const { clock, mirror, verifiers, onWrongSignatures } = options;
    this.#commits = new GroupCommit({ clock, capacity, commit: (list) => mirror.acceptDeliveries(list) });
    this.#verifierCache = new VerifierCache(clock, verifiers);
    this.#monitor = new SignatureMonitor(clock, onWrongSignatures);
  }

  /** Handles one POST. Never throws: our own failures are `unavailable`, so that the service sends it again. */
  async receive(accountId: string, request: HttpRequest): Promise<Outcome> {
    try {
      const outcome = await this.#handle(accountId, request);
      if (outcome === 'accepted') this.#report(undefined);
      return outcome;
    } catch (error) {
      const problem = asMirrorError(error);
      if (problem.code === 'rate_limited') return 'overloaded';
      this.#report(problem);
      return 'unavailable';
    }
  }

  #handle(accountId: string, request: HttpRequest): Promise<Outcome> | Outcome {
    const form = parseForm(request.body);
    if (!form) return 'malformed';
    const handshake = readHandshake({ query: [...request.query], form, body: request.body });
    if (handshake === 'malformed') return handshake;
    if (handshake) return this.#storeCode(accountId, handshake);
    // Only verifications may be JSON: deliveries are forms.
    if (request.headers['content-type']?.includes('json')) return 'wrong_type';
    const delivery = readDelivery(form);
    if (delivery?.accountId !== accountId) return 'malformed';
    const signature = signatureIn(request.rawHeaders, this.#options.signatureHeader);
    if (signature === undefined) return 'unsigned';
    return this.#acceptSigned(delivery, (verifiers) => isSigned(form, signature, verifiers));
  }

  async #storeCode(accountId: string, { verifier, callbackid, accountId: named }: Code): Promise<Outcome> {
    if (named !== undefined && named !== accountId) return 'malformed';
    switch (await this.#options.verifiers.offer(accountId, verifier, callbackid)) {
      case 'not_awaited':
        return 'unexpected_code';
      case 'full':
        return 'overloaded';
      case 'kept':
        this.#options.onCode(accountId);
        return 'verification';
      case 'known':
        return 'verification';
    }
  }

  async #acceptSigned(
    delivery: Delivery,
    isSigned: (verifiers: Awaited<ReturnType<Verifiers['usable']>>) => boolean,
  ): Promise<Outcome> {
    const { accountId } = delivery;
    if (!isSigned(await this.#verifierCache.usable(accountId))) {
      this.#monitor.wrong(accountId);
      return 'wrong_signature';
    }
    this.#monitor.correct(accountId);
    const vendorid = vendorOf(delivery);
    await this.#commits.add({ ...delivery, vendorid, receivedAt: this.#options.clock.now() });
    if (vendorid === null) return 'ignored';
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
