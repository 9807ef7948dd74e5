/**
 * What each request to the service is for the mirror. Only what is necessary may fail a run. The service may decline anything else: an answer
 * says so, or the request alone keeps failing. Then it is "not honoured": remembered, found, and tried again, at least once a day.
 *
 *   request                           is          without it
 *   --------------------------------  ----------  ---------------------------------------------------------------------------
 *   a page of the vendors             necessary   the run fails
 *   `per_page` of any list            optional    pages are as large as the service makes them
 *   `per_page` of a window            optional    a list that changes is proven by passes
 *   `search[vis_state]`               optional    hidden vendors are read by id, or stay as they are
 *   one vendor by id                  optional    vendors are read with the whole list (`VendorReader` finds that out)
 *   gateways                          extra       none are mirrored
 *   callbacks                         extra       no webhooks: the schedules find what changed
 *   a creation, an edit, a removal    necessary   the command fails
 */
import type { ErrorCode, MirrorError } from './errors.ts';

export type OptionalRequest = 'per_page' | 'window_size' | 'search[vis_state]' | 'gateways';

/** What is done without it, as the end of a sentence. */
export const insteadOf: Readonly<Record<OptionalRequest, string>> = {
  per_page: 'pages are as large as the service makes them',
  window_size: 'a list that changes is read again until it is proven complete',
  'search[vis_state]': 'vendors that lists hide are read by id',
  gateways: 'gateways stay as they were, or are not mirrored',
};

const hour = 3_600_000;
const day = 24 * hour;

/**
 * `once`: it may be an accident. `again`: in succession, within an hour; so may two accidents be where answers fail often, but what rests on other
 * proofs too need not wait. `settled`: for an hour or longer, each time that it was sent.
 */
export type Refusal = 'once' | 'again' | 'settled';

/** @param declinedFor since when, in milliseconds of mirror time */
export function refusalAfter(times: number, declinedFor: number): Refusal {
  if (times < 2) return 'once';
  return declinedFor < hour ? 'again' : 'settled';
}

/** Where it is remembered, by account. */
export interface OptionalMemory {
  /** Whether the request is to be sent: it was honoured, never sent, or is due to be tried again. */
  isHonoured(accountId: string, request: OptionalRequest): Promise<boolean>;
  /** How much its being declined says; undefined where it was honoured when it was last sent. */
  refusalOf(accountId: string, request: OptionalRequest): Promise<Refusal | undefined>;
  /** @returns whether this was not known. */
  noteDeclined(accountId: string, request: OptionalRequest, error: MirrorError): Promise<boolean>;
  noteHonoured(accountId: string, request: OptionalRequest): Promise<void>;
}

/**
 * Milliseconds until a request that was not honoured is tried again: as long as it has not been, between an hour and a day. Without lists of
 * single states less is concluded about vendors, so in the first hour each run asks for them.
 */
export function untilTriedAgain(request: OptionalRequest, declinedFor: number): number {
  if (request === 'search[vis_state]' && declinedFor < hour) return 0;
  return Math.max(hour, Math.min(declinedFor, day));
}

/** What says that a request is declined. The token, the rate, the network and this machine are not the request's. */
const declining: ReadonlySet<ErrorCode> = new Set([
  'rejected',
  'access_denied',
  'not_found',
  'not_supported',
  'redirected',
  'paging_ignored',
  'answer_unreadable',
  'answer_too_large',
  'row_unusable',
  'service_unavailable',
  'service_timeout',
]);

/** Whether an error of an optional request, which was retried where that helps, says that the service does not honour it. */
export function isDeclined({ code }: MirrorError): boolean {
  return declining.has(code);
}

/**
 * Whether a list that was declined with `per_page` may be answered without: not where access is missing, which has a number of its own, or the
 * service is down.
 */
export function mayBeSize(error: MirrorError): boolean {
  if (error.code === 'access_denied') return error.errno === undefined || error.errno === error.status;
  if (error.code === 'service_unavailable') return error.status === 500;
  return error.code !== 'service_timeout' && isDeclined(error);
}
