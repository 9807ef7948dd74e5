/** Which failures of accounts are logged. */
import { expect, it } from 'vitest';
import { CauseLog } from '../../../src/domain/cause-log.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const causes = () =>
  new CauseLog({
    connectionOf: (id) => (id === 'apart' ? 'clients' : 'default'),
    accounts: () => ['one', 'two', 'apart'],
    clock: virtualClock(),
    log: silentLog,
  });

it('an outage is one cause for all that it hits, in each connection', () => {
  const log = causes();
  expect(log.failed('one', 'callbacks', 'service_unavailable')?.facts).toEqual({ connection: 'default', accounts: 2 });
  expect(log.failed('one', 'runs', 'service_unavailable')).toBeUndefined();
  expect(log.failed('two', 'runs', 'service_unavailable')).toBeUndefined();
  expect(log.failed('apart', 'runs', 'service_unavailable')?.words).toBe('');
});

it('callbacks that are refused do not hide that the list is refused, too', () => {
  const log = causes();
  expect(log.failed('one', 'callbacks', 'access_denied')).toBeDefined();
  expect(log.failed('one', 'runs', 'access_denied')).toBeDefined();
  expect(log.failed('one', 'runs', 'access_denied')).toBeUndefined();
});
