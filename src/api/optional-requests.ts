/** Sends what the service may decline, and remembers what it does not honour. What is optional: ../domain/optional-requests.ts */
import { MirrorError } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import {
  insteadOf,
  isDeclined,
  mayBeSize,
  type OptionalMemory,
  type OptionalRequest,
  type Refusal,
} from '../domain/optional-requests.ts';
import { defaultRetryLimits, type RetryLimits } from '../domain/retry.ts';

/**
 * What a run does without is not asked for long where the service declines it. The rate and the network say nothing about the request, and
 * fail the run: they get the attempts of any other.
 */
export const optionalRetryLimits: RetryLimits = { ...defaultRetryLimits, untilDeclined: 2, oneTimeout: true };

export class OptionalRequests {
  readonly #accountId: string;
  readonly #memory: OptionalMemory;
  readonly #log: Log;

  constructor(accountId: string, memory: OptionalMemory, log: Log) {
    this.#accountId = accountId;
    this.#memory = memory;
    this.#log = log;
  }

  isHonoured(request: OptionalRequest): Promise<boolean> {
    return this.#memory.isHonoured(this.#accountId, request);
  }

  refusalOf(request: OptionalRequest): Promise<Refusal | undefined> {
    return this.#memory.refusalOf(this.#accountId, request);
  }

  honoured(request: OptionalRequest): Promise<void> {
    return this.#memory.noteHonoured(this.#accountId, request);
  }

  async declined(request: OptionalRequest, error: MirrorError): Promise<void> {
    if (await this.#memory.noteDeclined(this.#accountId, request, error))
      this.#log.warn(
        { account: this.#accountId, request, code: error.code },
        `the service does not honour ${request}, so ${insteadOf[request]}: ${error.message}`,
      );
  }

  /** @returns what `send` returns, or why it is not sent or was declined. @throws what else `send` throws. */
  async try<T>(request: OptionalRequest, send: () => Promise<T>): Promise<T | 'not_tried' | MirrorError> {
    if (!(await this.isHonoured(request))) return 'not_tried';
    let result: T;
    try {
      result = await send();
    } catch (error) {
      if (!(error instanceof MirrorError) || !isDeclined(error)) throw error;
      await this.declined(request, error);
      return error;
    }
    await this.honoured(request);
    return result;
  }

  /**
   * The first page of a list, with `per_page` where the service honours it. Where it declines that page, answers without, and declines it
   * once more, further pages are to be asked without too.
   */
  async firstPage<T>(send: (sized: boolean, limits?: RetryLimits) => Promise<T>): Promise<{ page: T; sized: boolean }> {
    if (!(await this.isHonoured('per_page'))) return { page: await send(false), sized: false };
    let declined: MirrorError;
    try {
      const page = await send(true);
      await this.honoured('per_page');
      return { page, sized: true };
    } catch (error) {
      if (!(error instanceof MirrorError) || !mayBeSize(error)) throw error;
      declined = error;
    }
    let page: T;
    try {
      page = await send(false, optionalRetryLimits);
    } catch {
      throw declined;
    }
    try {
      return { page: await send(true, optionalRetryLimits), sized: true };
    } catch (error) {
      if (!(error instanceof MirrorError) || !mayBeSize(error)) throw error;
    }
    await this.declined('per_page', declined);
    return { page, sized: false };
  }
}

/** Remembers nothing. */
export const noMemory: OptionalMemory = {
  isHonoured: () => Promise.resolve(true),
  noteDeclined: () => Promise.resolve(true),
  noteHonoured: () => Promise.resolve(),
  refusalOf: () => Promise.resolve(undefined),
};
