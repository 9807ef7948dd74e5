import { expect, it } from 'vitest';
import { refusalRemedy, refusalWords } from '../../../src/health/callbacks.ts';

const rewriting = /^Switch off whatever rewrites requests in the proxy\. If nothing does, .*`.* --account 6BApk`/;

it.each([
  ['unsigned', null, 'without a signature that is recognised', /^Let the proxy pass all request headers on/],
  ['wrong_signature', null, 'signed with another key, or changed on their way', /^Run `vendor-mirror doctor`/],
  ['malformed', 'another account is named', 'that are no deliveries (another account is named)', rewriting],
  ['wrong_type', 'text/plain', 'of another form than deliveries have (text/plain)', rewriting],
  ['too_large', null, 'larger than any delivery', rewriting],
  ['wrong_method', 'PUT', 'by another method than POST (PUT)', /^Let the proxy pass POST on as it is/],
  ['a later version', null, 'as a later version', /^Run `vendor-mirror doctor`\.$/],
])('L23 what was refused as %s is told with its cause and its remedy', (outcome, detail, words, remedy) => {
  expect([refusalWords(outcome, detail), refusalRemedy(outcome, '6BApk')]).toEqual([
    words,
    expect.stringMatching(remedy),
  ]);
});
