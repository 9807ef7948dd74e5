/** The service's three error forms, the OAuth form, and statuses without a form, as MirrorErrors. */
import { MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { list, member, wholeNumber } from './json.ts';

/** The parts of an error form. */
interface RefusalForm {
  readonly errno?: number;
  readonly field?: string;
  readonly messages: readonly string[];
}

const longestMessage = 300;

/** errno values that mean missing access, whatever the status. */
const accessNumbers = new Set([1003, 1038, 1042, 12001, 31001]);
/** errno values that mean invalid values. */
const valueNumbers = new Set([1001, 1004, 1013, 1014, 1017]);

/**
 * The error in a parsed answer; undefined if there is none. Errors are checked before results, because the service sends some with status
 * 200. Any status from 400 is an error even without a known form.
 */
export function refusal(status: number, document: unknown): MirrorError | undefined {
  const form = readForm(document);
  if (!form && status < 400) return undefined;
  const code = codeFor(status, form?.errno);
  const sentence =
    form && form.messages.length > 0 ? `: ${presentable(form.messages.join(' '))}` : ` with status ${status}.`;
  const facts = [form?.field && `field ${presentable(form.field)}`, form?.errno !== undefined && `errno ${form.errno}`];
  const details = facts.filter(Boolean).join(', ');
  return new MirrorError(code, `${openings[code] ?? 'The service refused'}${sentence}${details && ` (${details})`}`, {
    status,
    ...(form?.errno !== undefined && { errno: form.errno }),
  });
}

const openings: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'The service did not accept the token',
  access_denied: 'The service denied access',
  not_found: 'The service found nothing there',
  rate_limited: 'The service says that there were too many requests',
  service_unavailable: 'The service failed',
};

function readForm(document: unknown): RefusalForm | undefined {
  return accountingForm(document) ?? rpcForm(document) ?? eventsForm(document) ?? oauthForm(document);
}

/** `{"response": {"errors": [{"errno", "field", "message", "object", "value"}]}}` */
function accountingForm(document: unknown): RefusalForm | undefined {
  const errors = list(member(member(document, 'response'), 'errors'));
  return errors && errors.length > 0
    ? form(
        member(errors[0], 'errno'),
        member(errors[0], 'field'),
        errors.map((error) => member(error, 'message')),
      )
    : undefined;
}

/** `{"code", "message", "details": [{"reason", "metadata": {"field", "message"}}]}` */
function rpcForm(document: unknown): RefusalForm | undefined {
  if (member(document, 'code') === undefined || member(document, 'message') === undefined) return undefined;
  const detail = list(member(document, 'details'))?.[0];
  const metadata = member(detail, 'metadata');
  return form(member(detail, 'reason'), member(metadata, 'field'), [
    member(metadata, 'message') ?? member(document, 'message'),
  ]);
}

/** `{"errno", "message", "details": ["field: words", …]}` */
function eventsForm(document: unknown): RefusalForm | undefined {
  const errno = member(document, 'errno');
  if (wholeNumber(errno) === undefined) return undefined;
  return form(errno, undefined, [member(document, 'message'), ...(list(member(document, 'details')) ?? [])]);
}

/** `{"error", "error_description"}` */
function oauthForm(document: unknown): RefusalForm | undefined {
  const error = member(document, 'error');
  return typeof error === 'string'
    ? form(undefined, undefined, [member(document, 'error_description') ?? error])
    : undefined;
}

function form(errno: unknown, field: unknown, messages: readonly unknown[]): RefusalForm {
  const number = wholeNumber(errno);
  return {
    ...(number !== undefined && { errno: number }),
    ...(typeof field === 'string' && { field }),
    messages: messages.filter((message) => typeof message === 'string'),
  };
}

function codeFor(status: number, errno: number | undefined): ErrorCode {
  // The events form repeats the status as errno; inside a 200, that is the real status.
  const effective = status < 400 && errno !== undefined && errno >= 400 && errno < 600 ? errno : status;
  if (effective === 401) return 'unauthenticated';
  if (effective === 429) return 'rate_limited';
  if (effective === 405 || effective === 501) return 'not_supported';
  if (effective >= 500 || effective === 408) return 'service_unavailable';
  if (errno !== undefined && accessNumbers.has(errno)) return 'access_denied';
  if (errno === 1012) return 'not_found';
  if (errno !== undefined && valueNumbers.has(errno)) return 'rejected';
  if (effective === 403) return 'access_denied';
  if (effective === 404) return 'not_found';
  // An unknown error inside a 200 was always missing access where it was observed; it is never an empty result.
  return effective < 400 ? 'access_denied' : 'rejected';
}

/** One short line without control characters, because the service's text goes to terminals and logs. */
function presentable(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .toWellFormed();
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line;
}
