/** The targets of outgoing webhooks in the settings. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { settingsIn } from '../../support/settings.ts';

const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const notify = (...targets: object[]) => settingsIn('/tmp', { notify: targets }).notify;
const problem = (...targets: object[]): string => {
  try {
    notify(...targets);
  } catch (error) {
    return String(error);
  }
  return 'nothing';
};

describe('targets of outgoing webhooks', () => {
  it('have the name of their host and a timeout of 15 seconds by default', () => {
    expect(notify({ url: 'https://hooks.example:8443/a?b=c', secret })).toMatchObject([
      { name: 'hooks.example:8443', timeout: 15_000 },
    ]);
    expect(notify({ name: 'ledger', url: 'http://127.0.0.1:1/', secret, timeout: '1s' })).toMatchObject([
      { name: 'ledger', timeout: 1_000 },
    ]);
  });

  it('take their secret from a file, and never print it', () => {
    // The test's own reader gives back the path: here, what would stand in the file.
    const targets = notify({ url: 'https://hooks.example', secretFile: secret });
    expect(targets[0]?.secret.reveal()).toBe(secret);
    expect(inspect(targets) + JSON.stringify(targets)).not.toContain(secret);
  });

  it('may have two secrets at once, while one is replaced', () => {
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    const targets = notify({ url: 'https://hooks.example', secretFile: `${secret}\n${other}` });
    expect(targets[0]?.secret.reveal()).toBe(`${secret} ${other}`);
    expect(problem({ url: 'https://hooks.example', secret: `${secret} ${other} ${secret}` })).toContain(
      'or two of them',
    );
    expect(problem({ url: 'https://hooks.example', secret: `${secret} whsec_c2VjcmV0` })).toContain('24 to 64 bytes');
  });

  it.each([
    ['http to another machine', { url: 'http://hooks.example', secret }, 'https address'],
    ['a user in the address', { url: 'https://a:b@hooks.example', secret }, 'without user'],
    ['no secret', { url: 'https://hooks.example' }, 'whsec_'],
    ['a secret without its prefix', { url: 'https://hooks.example', secret: 'c2VjcmV0' }, 'whsec_'],
    ['a short secret', { url: 'https://hooks.example', secret: 'whsec_c2VjcmV0' }, '24 to 64 bytes'],
    ['a timeout of an hour', { url: 'https://hooks.example', secret, timeout: '1h' }, 'from 100ms to 60s'],
  ])('%s is refused, without showing any of the secret', (_, target, words) => {
    expect(problem(target)).toContain(words);
    expect(problem(target)).not.toContain('c2VjcmV0');
  });

  it('have different names', () => {
    const target = { url: 'https://hooks.example/a', secret };
    expect(problem(target, { ...target, url: 'https://hooks.example/b' })).toContain('targets of different names');
  });
});
