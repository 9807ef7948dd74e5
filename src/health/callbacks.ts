/**
 * Our callbacks, in words: why nothing is delivered (it is not registered, not verified, or leads elsewhere), what was wrong with the requests
 * that were refused at its address, and what a person should do. The judgement of what the service last showed says it as `doctor` does, which asks
 * the service.
 */
import { parseInstant } from '../domain/clock.ts';
import { inWords } from '../domain/duration.ts';
import { catalogue, type ErrorCode } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import type { ReportedRefusal, ReceivedDeliveries } from '../store/account-reports.ts';
import type { ReportedRefusals } from '../store/refusals.ts';

export interface Undelivered {
  readonly message: string;
  readonly remedy: string;
}

/** @param hasDaemon whether one runs, which registers it by itself */
export function notRegistered(hasDaemon: boolean): Undelivered {
  return {
    message: 'No callback of this installation is registered, so nothing is delivered.',
    remedy: hasDaemon
      ? 'The running daemon registers and verifies it before its next run, and at once on SIGHUP.'
      : '`vendor-mirror serve` registers and verifies it automatically.',
  };
}

export function registrationRefused(refusal: ReportedRefusal, now: number): Undelivered {
  const { event, message } = refusal;
  const effect = isAboutVendors(event) ? ', so nothing is delivered' : '';
  return { message: `${event} could not be registered${effect}: ${message}`, remedy: registrationRemedy(refusal, now) };
}

/** What to do about a registration that the service refused, and when it is tried again. */
function registrationRemedy({ code, remedy, retry_at }: ReportedRefusal, now: number): string {
  const scope = 'Give the token the scope of that event, or remove it from listener.events.';
  const known =
    remedy ?? (code === 'access_denied' ? scope : code in catalogue ? catalogue[code as ErrorCode].hint : '');
  const left = (parseInstant(retry_at ?? '') ?? 0) - now;
  const when = left > 0 ? `in ${inWords(left)}` : 'with the next check';
  return `${known} A running daemon tries again ${when}, or at once on SIGHUP.`.trimStart();
}

export function notVerified(callbackid: number, account: string): Undelivered {
  return {
    message: `Our callback ${callbackid} is not verified, so nothing is delivered: it awaits a code of the service.`,
    remedy: `The service must be able to send a POST to listener.publicUrl: see the public address in \`vendor-mirror doctor\`. Then \`vendor-mirror callbacks resend ${callbackid} --account ${account}\`, while the daemon runs, asks for a code.`,
  };
}

/** @param hasDaemon whether one runs, with settings of before */
export function leadsElsewhere(
  { callbackid, uri }: { readonly callbackid: number; readonly uri: string },
  publicUrl: string,
  hasDaemon: boolean,
): Undelivered {
  // The rest of the address holds a secret.
  const where = URL.canParse(uri) ? new URL(uri).origin : 'an address that cannot be read';
  return {
    message: `Our callback ${callbackid} leads to ${where}, and listener.publicUrl is ${publicUrl}.`,
    remedy: `If the new address is right, ${hasDaemon ? 'start the daemon again: it' : '`vendor-mirror serve`'} registers it and removes the old one by itself; otherwise correct listener.publicUrl.`,
  };
}

interface Cause {
  /** After a number of requests. */
  readonly words: string;
  readonly remedy: string;
  /** How many of them within an hour are nothing unusual; none by default. */
  readonly expected?: number;
}

const rewritten =
  'Switch off whatever rewrites requests in the proxy. If nothing does, another program sends to this address: `vendor-mirror callbacks list --account ACCOUNT` shows who should.';

const causes: Readonly<Record<string, Cause>> = {
  unsigned: {
    words: 'without a signature that is recognised',
    remedy:
      'Let the proxy pass all request headers on. If the service signs with another header, name it in service.signatureHeader.',
  },
  wrong_signature: {
    words: 'signed with another key, or changed on their way',
    remedy:
      'Run `vendor-mirror doctor`: it tests whether a delivery arrives unchanged. If it does and deliveries are missing, `vendor-mirror callbacks resend ID --account ACCOUNT`, while the daemon runs, gets a new key. If none is missing, somebody else knows the address: `vendor-mirror callbacks rotate --account ACCOUNT` replaces it.',
  },
  wrong_code: {
    words: 'with a verification code that the service did not accept',
    remedy:
      'Somebody else knows the address: `vendor-mirror callbacks rotate --account ACCOUNT` replaces it. The logs of proxies, and every program that may list callbacks, contain it.',
    expected: 4,
  },
  malformed: { words: 'that are no deliveries', remedy: rewritten },
  wrong_type: { words: 'of another form than deliveries have', remedy: rewritten },
  too_large: { words: 'larger than any delivery', remedy: rewritten },
  wrong_method: {
    words: 'by another method than POST',
    remedy: 'Let the proxy pass POST on as it is: a redirect makes another method of it.',
  },
  unknown_path: {
    words: 'to an address that no callback of this installation has',
    remedy:
      "A callback of lost secrets may still be registered: `vendor-mirror callbacks list --account ACCOUNT` shows those that are not this installation's own (`own`: no); `vendor-mirror callbacks delete ID --account ACCOUNT` deletes one.",
  },
  unexpected_code: {
    words: 'with a verification code that nobody awaited',
    remedy:
      'If a callback is not verified, run `vendor-mirror doctor`. If all are, and such codes come again and again, somebody else knows the address: `vendor-mirror callbacks rotate --account ACCOUNT` replaces it.',
  },
  overloaded: { words: 'while too many waited', remedy: 'The service sends them again.' },
  unavailable: {
    words: 'while nothing could be stored',
    remedy: 'The service sends them again; the log says why.',
  },
};

/** Outcomes that pass by themselves, or say nothing of the deliveries of our callbacks. */
const harmless = new Set(['unknown_path', 'wrong_code', 'unexpected_code', 'overloaded', 'unavailable']);

/** What was wrong, after the number of requests. */
export function refusalWords(outcome: string, detail: string | null): string {
  const { words } = causes[outcome] ?? { words: `as ${outcome}` };
  return detail === null ? words : `${words} (${detail})`;
}

/** How many within an hour are nothing unusual: the code of an earlier request may arrive late. */
export function expectedRefusals(outcome: string): number {
  return causes[outcome]?.expected ?? 0;
}

/** @param callbackid of the callback at whose address it was, where that is known */
export function refusalRemedy(outcome: string, account: string, callbackid?: number): string {
  const remedy = causes[outcome]?.remedy.replaceAll('ACCOUNT', account) ?? 'Run `vendor-mirror doctor`.';
  return callbackid === undefined ? remedy : remedy.replace('resend ID', `resend ${callbackid}`);
}

/** Older ones say nothing of today, in milliseconds. */
const maxAge = 24 * 3_600_000;

/** What to do about an address that somebody besides the service knows. */
export function addressRemedy(account: string): string {
  return refusalRemedy('wrong_code', account);
}

/** Fewer may be those of an earlier key or code. */
const strangersFrom = 6;

/**
 * Requests to the address of the callback that the service did not send: codes that were wrong or that nobody awaited, and wrong signatures
 * while deliveries are accepted and none is missing. Undefined where they are few, or none came within a day.
 */
export function ofStrangers(
  refused: readonly ReportedRefusals[],
  seen: SeenDeliveries,
  now: number,
): { readonly count: number; readonly first: string; readonly last: string } | undefined {
  const found = refused.filter(
    ({ outcome, last_at }) =>
      (outcome === 'wrong_code' || outcome === 'unexpected_code' || (outcome === 'wrong_signature' && isHeard(seen))) &&
      isRecent(last_at, now),
  );
  const count = found.reduce((sum, each) => sum + each.refused, 0);
  const [first = ''] = found.map(({ first_at }) => first_at).sort();
  const last =
    found
      .map(({ last_at }) => last_at)
      .sort()
      .at(-1) ?? '';
  return count < strangersFrom ? undefined : { count, first, last };
}

/** What arrived, and how many changes sweeps found since that no delivery announced. */
export type SeenDeliveries = Pick<ReceivedDeliveries, 'lastDelivery' | 'provenAt' | 'missedSince'>;

/** Whether deliveries are accepted and none is missing: what is signed with another key is not of the service. */
function isHeard({ lastDelivery, provenAt, missedSince }: SeenDeliveries): boolean {
  return lastDelivery !== null && lastDelivery >= (provenAt ?? '') && missedSince === 0;
}

/** Requests to addresses that no callback of this installation has; undefined where none came within a day. */
export function unknownPaths(refused: readonly ReportedRefusals[], now: number): ReportedRefusals | undefined {
  return refused.find(({ outcome, last_at }) => outcome === 'unknown_path' && isRecent(last_at, now));
}

function isRecent(at: string, now: number): boolean {
  return Math.abs(now - (parseInstant(at) ?? -Infinity)) < maxAge;
}

/**
 * The refused requests after which nothing was accepted, but those of strangers, the most frequent first. A key that came after wrong
 * signatures may be the right one.
 */
export function unsolvedRefusals(
  refused: readonly ReportedRefusals[],
  seen: SeenDeliveries,
  now: number,
): ReportedRefusals[] {
  const isHarmless = (outcome: string): boolean =>
    harmless.has(outcome) || (outcome === 'wrong_signature' && isHeard(seen));
  const { lastDelivery, provenAt } = seen;
  const solvedAt = (outcome: string): string =>
    [lastDelivery ?? '', outcome === 'wrong_signature' ? (provenAt ?? '') : ''].sort()[1] ?? '';
  return refused
    .filter(({ outcome, last_at }) => !isHarmless(outcome) && isRecent(last_at, now) && last_at > solvedAt(outcome))
    .sort((a, b) => b.recent - a.recent);
}

const named = 5;

/** Callbacks at the service that lead here, and that other secrets registered. */
export function unknownCallbacksText(ids: readonly number[]): string {
  const shown = ids.slice(0, named).join(', ');
  const which =
    ids.length === 1
      ? `The callback ${shown} at the service leads`
      : `The callbacks ${shown}${ids.length > named ? ' and others' : ''} at the service lead`;
  return `${which} to this installation, but ${ids.length === 1 ? 'was' : 'were'} registered with other secrets: what comes of ${ids.length === 1 ? 'it' : 'them'} is refused.`;
}

export function unknownCallbacksRemedy(ids: readonly number[], account: string): string {
  const commands = ids.slice(0, named).map((id) => `\`vendor-mirror callbacks delete ${id} --account ${account}\``);
  return `If this mirror should have had its earlier files, stop it and check \`database\` and \`secrets\` in the settings. Otherwise delete ${ids.length === 1 ? 'it' : 'them'}: ${commands.join(', ')}.`;
}
