/**
 * Answers of the service as JSON: complete documents only, values that may have any type, and the forms of its errors.
 */
import { isUtf8 } from 'node:buffer';
import { catalogue, MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { isMap, JsonCursor } from '../../domain/json-cursor.ts';
import type { ReadStamp } from '../../domain/reading.ts';

/** A successful answer that is not parsed yet. */
export interface Answered {
  /** The body, expected to be UTF-8 JSON. */
  readonly bytes: Uint8Array;
  readonly stamp: ReadStamp;
  /** The time of the service's Date header, milliseconds since 1970; undefined where there is none. */
  readonly servedAt: number | undefined;
}

/** The offset of the JSON text, after a byte order mark. @throws MirrorError `answer_unreadable` where it is not UTF-8, or there is none. */
export function startOfText(bytes: Uint8Array): number {
  if (!isUtf8(bytes)) throw spoilt('The answer is not UTF-8.');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (start === bytes.length) throw spoilt('The answer is empty.');
  return start;
}

/** Of an answer that says nothing of who gave it: a wrong address is answered with a page. */
function spoilt(message: string): MirrorError {
  return new MirrorError('answer_unreadable', message, { remedy: catalogue.answer_unreadable.hint });
}

/** Parses any answer. @throws MirrorError `answer_unreadable` where it is empty, cut off, not UTF-8, not JSON or too deeply nested. */
export function parseDocument(bytes: Uint8Array): unknown {
  const start = startOfText(bytes);
  const cursor = new JsonCursor(bytes, start);
  cursor.skip();
  cursor.end();
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.length - start).toString());
}

/** Parses a successful answer. @throws MirrorError the error that it may contain, or `answer_unreadable`. */
export function parseSuccess(bytes: Uint8Array): unknown {
  return unlessRefused(parseDocument(bytes));
}

/** The document, unless it contains an error form: the service sends some errors with status 200. */
export function unlessRefused(document: unknown): unknown {
  const refused = refusal(200, document);
  if (refused) throw refused;
  return document;
}

/** Parses the bytes of an answer as JSON, and refuses everything that is not a complete JSON document. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MirrorError('answer_unreadable', 'The answer is not JSON.');
  }
}

/** The service's three error forms, the OAuth form, and statuses without a form, as MirrorErrors. */

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
    errno: form?.errno,
    remedy: remedyFor(code, status, form),
  });
}

/** What the service's numbers of missing access mean: most are no missing scope. */
const remedies: Readonly<Record<number, string>> = {
  1003: 'Check the id of the account. If it is right, give the person behind the token a role in the business that may do this, or take the token of somebody who has one.',
  1038: 'The token may read here and not write: it needs the scope user:bill_vendors:write, and its person a role that may edit vendors.',
  1042: 'The account is inactive: check its id, and whether its business is still open and paid for.',
  31001:
    'The plan of the business, or the role of the person behind the token, does not include bill vendors. If both do, the token lacks the scope user:bill_vendors:read.',
};

/** Where undefined, the catalogue says what to do. */
function remedyFor(code: ErrorCode, status: number, form: RefusalForm | undefined): string | undefined {
  if (status === 402) return 'The plan of the business does not include this, or is not paid for: ask its owner.';
  if (code === 'access_denied' && !form)
    return 'The answer is not in the form of the service: something before it, such as a firewall or a proxy, refuses this machine. Ask whoever runs that.';
  if (code === 'access_denied') return remedies[form?.errno ?? NaN];
  if (code === 'rejected' && !form?.messages.length && form?.field === undefined)
    return 'The service does not say why: check each value, and whether this account may have it.';
  return undefined;
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

/** `{"response": {"errors": [{"errno", "field", "message", "object", "value"}]}}`; the errors may be one, by name, or texts. */
function accountingForm(document: unknown): RefusalForm | undefined {
  const errors = errorsIn(member(member(document, 'response'), 'errors'));
  const [first] = errors;
  if (!first) return undefined;
  return form(
    member(first, 'errno'),
    member(first, 'field'),
    errors.map((error) => member(error, 'message')),
  );
}

/** What stands where errors are expected, as a list of them: whatever is not empty is an error. `field` is where it stands. */
function errorsIn(value: unknown, field?: string): Readonly<Record<string, unknown>>[] {
  if (typeof value === 'string') return value === '' ? [] : [{ field, message: value }];
  if (Array.isArray(value)) return value.flatMap((item) => someErrorsIn(item, field));
  if (!isMap(value)) return [];
  if (wholeNumber(value['errno']) !== undefined || typeof value['message'] === 'string') return [{ field, ...value }];
  return Object.entries(value).flatMap(([name, item]) => someErrorsIn(item, /^\d+$/.test(name) ? field : name));
}

function someErrorsIn(item: unknown, field: string | undefined): Readonly<Record<string, unknown>>[] {
  const errors = errorsIn(item, field);
  return errors.length > 0 ? errors : [{ field }];
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
  if (effective === 402 || effective === 403) return 'access_denied';
  if (effective === 404 || effective === 410) return 'not_found';
  // An unknown error inside a 200 was always missing access where it was observed; it is never an empty result.
  return effective < 400 ? 'access_denied' : 'rejected';
}

/** One short line without control characters, because the service's text goes to terminals and logs. */
export function presentable(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .toWellFormed();
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line;
}

/** Reads values of untrusted JSON, without assuming that they exist or have the expected type. */

/** An own member of an object; undefined where it is missing, or the value is not an object. */
export function member(value: unknown, name: string): unknown {
  return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function list(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** What is wrong with a member of a result that should be a list. */
export function lackOf(value: unknown, name: string): string {
  const member = `response.result.${name}`;
  if (value === undefined) return `it has no ${member}`;
  return value === null ? `its ${member} is null` : `its ${member} is no list`;
}

/** A whole number from 0, as number or digits; undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** An id: a whole number from 1 to 2^53-1, as number or as digits without leading zeros; undefined for anything else. */
export function identifier(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^[1-9]\d*$/.test(value)) return undefined;
  const number = wholeNumber(value);
  return number === 0 ? undefined : number;
}

/** Text, null, or a number as text; undefined for anything else. NUL and lone surrogates are removed. */
export function text(value: unknown): string | null | undefined {
  if (value === null) return null;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const clean = value.includes('\0') ? value.replaceAll('\0', '') : value;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

/** A boolean in any observed spelling: true, "true", 1, "1" and their opposites; undefined for anything else. */
export function truth(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === 'true' || value === '1') return true;
  if (value === false || value === 0 || value === 'false' || value === '0') return false;
  return undefined;
}

/** JSON text with sorted keys, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isMap(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
