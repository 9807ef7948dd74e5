import { describe, expect, it } from 'vitest';
import { SignatureMonitor } from '../../../../src/webhook/receive/signature-monitor.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

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

describe('E9 an account that hears nothing genuine', () => {
  it('is noticed at the fifth wrong signature, for itself alone', () => {
    const { told, wrong } = ear();
    wrong(4, 'b');
    wrong(4);
    expect(told).toEqual([]);
    wrong(1);
    expect(told).toEqual(['a']);
  });

  it('is none where a right one came in between', () => {
    const { told, wrong, monitor } = ear();
    wrong(4);
    monitor.correct('a');
    wrong(4);
    expect(told).toEqual([]);
  });

  it('is none where the wrong ones are spread over hours', async () => {
    const { told, wrong, clock } = ear();
    for (let count = 0; count < 20; count += 1) {
      wrong(1);
      await clock.advance(16 * minutes);
    }
    expect(told).toEqual([]);
  });

  it('is told of once an hour at most, however many wrong ones come', async () => {
    const { told, wrong, clock } = ear();
    for (let minute = 0; minute < 180; minute += 10) {
      wrong(100);
      await clock.advance(10 * minutes);
    }
    expect(told).toHaveLength(3);
  });
});
