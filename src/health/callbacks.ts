/**
 * Why nothing is delivered, in words: our callback is not registered, not verified, or leads elsewhere. The judgement of what the service last
 * showed says it as `doctor` does, which asks the service.
 */
import { parseInstant } from '../domain/clock.ts';
import { inWords } from '../domain/duration.ts';
import { catalogue, type ErrorCode } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import type { ReportedRefusal } from '../store/account-reports.ts';

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
