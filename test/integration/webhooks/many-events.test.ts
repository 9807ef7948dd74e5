/** A daemon that receives every event of the service: vendors come first. */
import { expect, it } from 'vitest';
import { registrableEvents } from '../../../src/domain/events.ts';
import { account, publicUrl } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

const nouns = registrableEvents.filter((event) => !event.includes('.'));

it('K37 with fifteen events to register, bill_vendor is first, the first sweep next, and the rest follows, each with its line', async () => {
  const at = await testbed({
    level: 'daemon',
    started: false,
    settings: {
      listener: {
        host: '127.0.0.1',
        port: 0,
        publicUrl,
        events: nouns.filter((noun) => noun !== 'bill_vendor').concat('bill_vendor'),
      },
    },
  });
  const callbacks = () => at.sandbox.callbacks(account).all();
  const begun = at.clock.monotonic();
  await at.start();
  await at.clock.until('the first sweep is over', () => at.runs.length > 0);
  expect(at.clock.monotonic() - begun).toBeLessThan(10_000);
  expect(callbacks()[0]).toMatchObject({ event: 'bill_vendor', verified: true });
  expect(callbacks().length).toBeLessThan(nouns.length);
  expect(at.runs[0]).toMatchObject({ outcome: 'complete' });
  await at.clock.until(
    'all are verified',
    () => callbacks().filter(({ verified }) => verified).length === nouns.length,
  );
  await at.clock.pass(60_000);
  const lines = at.log.map(({ msg }) => msg);
  expect(nouns.filter((noun) => !lines.includes(`the callback for ${noun} is verified`))).toEqual([]);
  expect(lines.indexOf('the callback for bill_vendor is verified')).toBeLessThan(
    lines.findIndex((line) => /(pull|reconcile) complete/.test(line)),
  );
});

it('K37 where bill_vendor is registered already, the first sweep after a start waits for no other event', async () => {
  const at = await testbed({ level: 'daemon' });
  const listener = { host: '127.0.0.1', port: 0, publicUrl, events: nouns };
  await at.reopen({ listener });
  const [begun, runs] = [at.clock.monotonic(), at.runs.length];
  await at.clock.pass(3_600_000);
  await at.start();
  await at.clock.until('a sweep is over', () => at.runs.length > runs);
  expect(at.clock.monotonic() - begun - 3_600_000).toBeLessThan(10_000);
  expect(at.sandbox.callbacks(account).all().length).toBeLessThan(nouns.length);
});
