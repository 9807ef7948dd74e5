import { describe, expect, it } from 'vitest';
import { changedKeys } from '../../../src/settings/parse.ts';
import { settingsIn, type SettingsOver } from '../../support/settings.ts';

const settings = (over: SettingsOver = {}) => settingsIn('/var/lib/mirror', over);

describe('changedKeys', () => {
  it('finds none if the same file is read again', () => {
    expect(changedKeys(settings(), settings())).toEqual([]);
  });

  it('leaves out what a running daemon applies: accounts and connections', () => {
    const connections = { berlin: { auth: { accessToken: 'another' } } };
    const after = settings({ accounts: ['6BApk', 'third'], connections, service: { auth: { accessToken: 'new' } } });
    expect(changedKeys(settings(), after)).toEqual([]);
  });

  it('names each key that changed by its path, a secret and a list too, and shows no value', () => {
    const admin = { token: 'long-enough-a-token', port: 1234 };
    const hook = (secret: string) => ({ notify: [{ url: 'https://hooks.example/x', secret: `whsec_${secret}` }] });
    const [old, other] = ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'NfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
    const before = settings({ admin, ...hook(old) });
    const after = settings({
      admin: { ...admin, token: 'long-enough-another' },
      ...hook(other),
      sync: { breaker: { percent: 5 } },
      publish: [{ path: '/tmp/copy.db' }],
      sandbox: null,
      listener: { publicUrl: 'https://mirror.example.com' },
    });
    expect(changedKeys(before, after)).toEqual([
      'admin.token',
      'listener.publicUrl',
      'notify',
      'publish',
      'sync.breaker.percent',
    ]);
  });
});
