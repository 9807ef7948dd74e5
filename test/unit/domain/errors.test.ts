import { expect, it } from 'vitest';
import { catalogue, isAccessRefused, type ErrorCode } from '../../../src/domain/errors.ts';

it('K18 a dead token, a refused account and a dead grant are what only a person can end, and nothing else is', () => {
  const refused = (Object.keys(catalogue) as ErrorCode[]).filter(isAccessRefused);
  expect(refused.sort()).toEqual(['access_denied', 'token_refresh_failed', 'unauthenticated']);
});
