import { describe, expect, it } from 'vitest';
import { refusal } from '../../../../src/api/wire/document.ts';
import { retryAfter } from '../../../../src/api/http/retry.ts';
import { fixture } from '../../../support/network/service-answers.ts';

const parsed = (name: string): unknown => JSON.parse(fixture(name));

describe('a refusal of the service', () => {
  it.each([
    ['error-accounting-no-access-http200', 200, 'access_denied', 12001],
    ['error-accounting-not-found', 404, 'not_found', 1012],
    ['error-accounting-not-found', 200, 'not_found', 1012],
    ['error-accounting-not-found-rpc-form', 404, 'not_found', 1012],
    ['error-accounting-not-found-rpc-form', 200, 'not_found', 1012],
    ['error-events-not-found', 404, 'not_found', 404],
    ['error-events-unauthenticated', 401, 'unauthenticated', 401],
    ['error-events-unauthenticated', 200, 'unauthenticated', 401],
    ['error-events-validation', 422, 'rejected', 422],
    ['error-unauthenticated', 401, 'unauthenticated', undefined],
  ])('%s with status %i is %s', (name, status, code, errno) => {
    expect(refusal(status, parsed(name))).toMatchObject({ code, errno, status });
  });

  it.each([
    'vendors-list',
    'vendor-create-response',
    'gateways-list',
    'gateway-delete-response',
    'callbacks-list-empty',
    'token-refresh-response',
  ])('%s contains no error', (name) => {
    expect(refusal(200, parsed(name))).toBeUndefined();
  });

  it.each([
    [401, undefined, 'unauthenticated'],
    [403, undefined, 'access_denied'],
    [403, 1012, 'not_found'],
    [400, 1003, 'access_denied'],
    [200, 1003, 'access_denied'],
    [404, 31001, 'access_denied'],
    [200, 1038, 'access_denied'],
    [200, 1042, 'access_denied'],
    [200, 77777, 'access_denied'],
    [404, undefined, 'not_found'],
    [405, undefined, 'not_supported'],
    [501, undefined, 'not_supported'],
    [400, 1013, 'rejected'],
    [200, 1001, 'rejected'],
    [422, undefined, 'rejected'],
    [418, undefined, 'rejected'],
    [408, undefined, 'service_unavailable'],
    [429, undefined, 'rate_limited'],
    [500, 1012, 'service_unavailable'],
    [503, undefined, 'service_unavailable'],
  ])('A22 status %i with errno %s is %s', (status, errno, code) => {
    const document = errno === undefined ? undefined : { response: { errors: [{ errno, message: 'No.' }] } };
    expect(refusal(status, document)?.code).toBe(code);
  });

  it("keeps the service's message, field and number", () => {
    const document = {
      response: { errors: [{ errno: '1001', field: 'language', message: 'Required field: language' }] },
    };
    expect(refusal(422, document)?.message).toBe(
      'The service refused: Required field: language (field language, errno 1001)',
    );
    expect(refusal(422, parsed('error-events-validation'))?.message).toContain(
      'event: Value error, Unrecognized event.',
    );
    expect(refusal(502, undefined)?.message).toBe('The service failed with status 502.');
  });

  it('shortens foreign text and makes it harmless for terminals', () => {
    const message =
      refusal(400, { errno: 1, message: `\u001b[31mred\u202e\n\u0000${'x'.repeat(5_000)}\ud800` })?.message ?? '';
    expect(message).toMatch(/^The service refused: \[31mred x+… \(errno 1\)$/);
    expect(message.length).toBeLessThan(400);
  });

  it('survives unknown error forms', () => {
    for (const odd of [
      null,
      [],
      'x',
      5,
      { response: null },
      { response: { errors: '' } },
      { response: { errors: [] } },
      { response: { errors: {} } },
      { details: [null] },
    ]) {
      expect(refusal(200, odd)).toBeUndefined();
      expect(refusal(400, odd)?.code).toBe('rejected');
    }
    expect(refusal(200, { response: { errors: [null] } })?.code).toBe('access_denied');
    expect(refusal(400, { code: 3, message: 'Bad.', details: [5] })?.message).toContain('Bad.');
  });
});

describe('L42 errors that are no list', () => {
  const error = { errno: 1003, message: 'Access denied.' };
  it.each([
    ['one object', error, 'access_denied', 'Access denied. (errno 1003)'],
    [
      'objects by number',
      { 0: error, 1: { errno: 1, message: 'More.' } },
      'access_denied',
      'Access denied. More. (errno 1003)',
    ],
    [
      'objects by field',
      { language: { errno: 1001, message: 'Required.' } },
      'rejected',
      'Required. (field language, errno 1001)',
    ],
    [
      'texts by field',
      { language: ['is required', 'is short'] },
      'access_denied',
      'is required is short (field language)',
    ],
    ['a text', 'No access.', 'access_denied', 'No access.'],
    ['a list of texts', ['No access.'], 'access_denied', 'No access.'],
    ['an object of what nobody knows', { x: 5 }, 'access_denied', undefined],
  ])('%s, inside 200', (_, errors, code, message) => {
    const refused = refusal(200, { response: { errors } });
    expect(refused?.code).toBe(code);
    if (message !== undefined) expect(refused?.message).toContain(message);
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 10, 20, 12);
  const inHalfAMinute = 'Fri, 20 Nov 2026 12:00:30 GMT';

  it.each([
    ['59', 59_000],
    [' 1.5 ', 1_500],
    ['0', 1_000],
    ['1000000000', 3_600_000],
    [inHalfAMinute, 30_000],
    ['Fri, 20 Nov 2015 12:00:30 GMT', 1_000],
    ['Fri, 20 Nov 2065 12:00:30 GMT', 3_600_000],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('A23 B10 %j means %s ms', (text, ms) => {
    expect(retryAfter(new Headers({ 'retry-after': text }), now)).toBe(ms);
  });

  it("A23 measures a date against the service's clock, not ours", () => {
    const headers = new Headers({ 'retry-after': inHalfAMinute, date: 'Fri, 20 Nov 2026 12:00:20 GMT' });
    expect(retryAfter(headers, now - 86_400_000)).toBe(10_000);
  });

  it('means nothing if it is missing', () => {
    expect(retryAfter(new Headers(), now)).toBeUndefined();
  });
});
