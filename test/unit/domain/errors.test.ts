import { expect, it } from 'vitest';
import { asMirrorError, catalogue, isAccessRefused, type ErrorCode } from '../../../src/domain/errors.ts';

it('K18 only a dead token, none, a refused account and a dead grant count as errors that a person must resolve', () => {
  const refused = (Object.keys(catalogue) as ErrorCode[]).filter(isAccessRefused);
  expect(refused.sort()).toEqual(['access_denied', 'token_refresh_failed', 'token_unusable', 'unauthenticated']);
});

it('no hint says that there is nothing to do: where it stands, something is counted as to be done', () => {
  const idle = Object.entries(catalogue).filter(([, { hint }]) =>
    /nothing (needs|has|is) to|nothing to do/i.test(hint),
  );
  expect(idle).toEqual([]);
});

it.each([
  ['EACCES', 'file_unwritable', 'run commands as the user of the service'],
  ['EMFILE', 'file_unwritable', '`ulimit -n 1024`'],
  ['ENFILE', 'file_unwritable', '`ulimit -n 1024`'],
  ['EISDIR', 'bug', 'This is a bug'],
])('L44 what the system refuses with %s is %s, with what to do', (code, expected, remedy) => {
  const error = asMirrorError(Object.assign(new Error(`${code}: it was refused, open 'x'`), { code }));
  expect([error.code, error.hint]).toEqual([expected, expect.stringContaining(remedy)]);
});
