import { expect, it } from 'vitest';
import { catalogue, isAccessRefused, type ErrorCode } from '../../../src/domain/errors.ts';

it('K18 only a dead token, none, a refused account and a dead grant count as errors that a person must resolve', () => {
  const refused = (Object.keys(catalogue) as ErrorCode[]).filter(isAccessRefused);
  expect(refused.sort()).toEqual(['access_denied', 'token_refresh_failed', 'token_unusable', 'unauthenticated']);
});
