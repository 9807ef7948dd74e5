import { expect, it, onTestFinished, vi } from 'vitest';
import { isMissing } from './needed.ts';

it('what a test needs may be missing, but not in CI', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('CI', '');
  expect([isMissing(undefined), isMissing('there is no Python')]).toEqual([false, true]);
  vi.stubEnv('CI', 'true');
  expect(isMissing(undefined)).toBe(false);
  expect(() => isMissing('there is no Python')).toThrow('In CI no test may be skipped: there is no Python.');
});
