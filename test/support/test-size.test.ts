import { expect, it, onTestFinished, vi } from 'vitest';
import { asked } from './test-size.ts';

function inEnvironment(text: string | undefined): void {
  vi.stubEnv('KILLS', text);
  onTestFinished(() => void vi.unstubAllEnvs());
}

it('is what is usual, where nobody asks', () => {
  inEnvironment(undefined);
  expect(asked('KILLS', 50)).toBe(50);
});

it('is what is asked for', () => {
  inEnvironment('700');
  expect(asked('KILLS', 50)).toBe(700);
});

it.each(['', 'many', '0', '-1', '1.5', '1e3'])('is never a proof of nothing: “%s”', (text) => {
  inEnvironment(text);
  expect(() => asked('KILLS', 50)).toThrow(`KILLS=${text} proves nothing: it must be a whole number from 1.`);
});
