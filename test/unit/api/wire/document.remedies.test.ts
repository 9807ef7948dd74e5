/** What to do about a refusal: by the code, the number and the form of the answer, from captured answers and the service's notes on its numbers. */
import { expect, it } from 'vitest';
import { refusal } from '../../../../src/api/wire/document.ts';
import { fixture } from '../../../support/network/service-answers.ts';

const parsed = (name: string): unknown => JSON.parse(fixture(name));

const accounting = (errno: number, message: string): unknown => ({ response: { errors: [{ errno, message }] } });
const rpc = (reason: string, message: string): unknown => ({ code: 7, message, details: [{ reason }] });

it.each<[string, number, unknown, RegExp]>([
  [
    'no access to bill vendors',
    403,
    accounting(31001, 'You do not have access to bill vendors.'),
    /^The plan .*role.*If both do.*scope/,
  ],
  ['the same in status 200', 200, accounting(31001, 'You do not have access to bill vendors.'), /^The plan/],
  ['the same in the third form', 403, rpc('31001', 'No access.'), /^The plan/],
  [
    'a role that may not',
    403,
    accounting(1003, 'Access denied.'),
    /^Check the id.*give the person behind the token a role/,
  ],
  [
    'errors as an object',
    403,
    { response: { errors: { errno: 1003, message: 'Access denied.' } } },
    /^Check the id.*give the person/,
  ],
  ['a token that may not write', 403, accounting(1038, 'Write access denied.'), /user:bill_vendors:write/],
  ['an inactive account', 403, accounting(1042, 'Inactive.'), /^The account is inactive/],
  [
    'captured: no access in status 200',
    200,
    parsed('error-accounting-no-access-http200'),
    /^Check the id of the account.*role.*scope/,
  ],
  ['captured: an unknown token', 401, parsed('error-unauthenticated'), /^The token is unknown or expired/],
  [
    'captured: an unknown token, of events',
    401,
    parsed('error-events-unauthenticated'),
    /^The token is unknown or expired/,
  ],
  ['captured: an id that is not there', 404, parsed('error-accounting-not-found'), /no such resource/],
  ['captured: values that are not valid', 422, parsed('error-events-validation'), /^Correct what the message names/],
  ['the page of a firewall', 403, undefined, /firewall or a proxy.*refuses this machine/],
  ['a plan without it', 402, { error: 'payment_required' }, /^The plan of the business/],
  ['the page of a service that is not paid', 402, undefined, /^The plan of the business/],
  ['a refusal without a word', 422, {}, /does not say why/],
  [
    'a refusal that names a field alone',
    422,
    { response: { errors: [{ errno: 1001, field: 'vendor_name' }] } },
    /^Correct what/,
  ],
])(
  'L40 %s: the remedy is of this cause, and the words of the service are in the message',
  (_, status, document, remedy) => {
    const error = refusal(status, document);
    expect(error?.hint).toMatch(remedy);
    const said = /"message":"([^"]*)"/.exec(JSON.stringify(document ?? null))?.[1] ?? '';
    expect(error?.message).toContain(said);
  },
);
