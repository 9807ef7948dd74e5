import { expect, it } from 'vitest';
import { targetSection } from '../../../../src/admin/page/webhook-section.ts';
import { before, noon, target } from '../../../support/admin/sample.ts';

const shown = (...targets: Parameters<typeof targetSection>[0]): string =>
  targetSection(targets, noon)!
    .text.replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

it('without a target there is no section', () => {
  expect(targetSection([], noon)).toBeNull();
});

it('a target shows its state, its lag, what waits, what was given up, and when something was accepted last', () => {
  expect(shown(target())).toContain(
    'hooks.example delivering Lag none Waiting nothing Given up nothing Last accepted 6 s ago',
  );
  const behind = target({ waiting: 3, behind: 7, oldest_waiting: before(90_000), delivered_at: null });
  expect(shown(behind)).toContain('Lag 1 min Waiting 3 vendors Given up nothing Last accepted never');
});

it('a failure is shown at once, and with what to do once it lasts', () => {
  const failing = { last_error: 'hooks.example answered 503.', waiting: 2, oldest_waiting: before(60_000) };
  expect(shown(target({ ...failing, failing_since: before(60_000) }))).toContain(
    'failing Lag 1 min Waiting 2 vendors Given up nothing Last accepted 6 s ago Failing for 1 min : hooks.example answered 503.',
  );
  const parked = shown(target({ ...failing, failing_since: before(60_000), parked: 1 }));
  expect(parked).toMatch(/Failing for 1 min : hooks.example answered 503. .*were given up/);
  const long = shown(target({ ...failing, failing_since: before(3_600_000) }));
  expect(long).toContain(
    'has accepted nothing since 2026-11-20 11:00:00 UTC : hooks.example answered 503. Check the receiver',
  );
  expect(long).not.toContain('Failing for');
});

it('its words are escaped', () => {
  const { text } = targetSection([target({ target: '<b>x', parked: 1, parked_error: '<i>' })], noon)!;
  expect(text).not.toMatch(/<b>|<i>/);
});
