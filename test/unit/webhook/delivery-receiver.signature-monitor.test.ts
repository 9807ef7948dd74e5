import { describe, expect, it } from 'vitest';
import { SignatureMonitor } from '../../../src/webhook/delivery-receiver.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function ear() {
  const clock = virtualClock();
  const told: string[] = [];
  const monitor = new SignatureMonitor(clock, (accountId) => told.push(accountId));
  const wrong = (times: number, account = 'a') => {
    for (let count = 0; count < times; count += 1) monitor.wrong(account);
  };
  return { clock, told, monitor, wrong };
}

const minutes = 60_000;

describe('E9 an account without genuine deliveries', () => {
  it('is noticed at the fifth wrong signature, separately for each account', () => {
    const { told, wrong } = ear();
    wrong(4, 'b');
    wrong(4);
    expect(told).toEqual([]);
    wrong(1);
    expect(told).toEqual(['a']);
  });

  it('is not assumed if a right signature arrived in between', () => {
    const { told, wrong, monitor } = ear();
    wrong(4);
    monitor.correct('a');
    wrong(4);
    expect(told).toEqual([]);
  });

  it('is not assumed if the wrong signatures are spread over hours', async () => {
    const { told, wrong, clock } = ear();
    for (let count = 0; count < 20; count += 1) {
      wrong(1);
      await clock.advance(16 * minutes);
    }
    expect(told).toEqual([]);
  });

  it('is reported once an hour at most, however many wrong ones arrive', async () => {
    const { told, wrong, clock } = ear();
    for (let minute = 0; minute < 180; minute += 10) {
      wrong(100);
      await clock.advance(10 * minutes);
    }
    expect(told).toHaveLength(3);
  });
});
