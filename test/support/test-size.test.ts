import { expect, it, onTestFinished, vi } from 'vitest';
import { asked } from './test-size.ts';

function inEnvironment(text: string | undefined, few?: string): void {
  vi.stubEnv('KILLS', text);
  vi.stubEnv('FEW', few);
  onTestFinished(() => void vi.unstubAllEnvs());
}

it('is the default if the environment sets none', () => {
  inEnvironment(undefined);
  expect(asked('KILLS', 50)).toBe(50);
});

it('is a smaller default in `npm test`, where there is one', () => {
  inEnvironment(undefined, '1');
  expect([asked('KILLS', 50, 2), asked('KILLS', 50)]).toEqual([2, 50]);
});

it('is what the environment sets', () => {
  inEnvironment('700', '1');
  expect(asked('KILLS', 50, 2)).toBe(700);
});

it.each(['', 'many', '0', '-1', '1.5', '1e3'])('is never so small that nothing is tested: “%s”', (text) => {
  inEnvironment(text);
  expect(() => asked('KILLS', 50)).toThrow(`KILLS=${text} proves nothing: it must be a whole number from 1.`);
});
