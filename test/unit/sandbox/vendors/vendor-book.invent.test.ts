import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../../../src/sandbox/core/random.ts';
import { changeSomething } from '../../../../src/sandbox/account/churn.ts';
import type { Wire } from '../../../../src/sandbox/core/vendor-record.ts';
import { Sandbox } from '../../../../src/sandbox/service.ts';
import { account } from '../../../support/names.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { oddWorld } from '../../../support/odd-world.ts';
import { testbed } from '../../../support/testbed.ts';
import { vendorsPath } from '../../../support/testbed/service.ts';

const invented = (seed: string, vendors: number): Wire[] =>
  new Sandbox(
    { seed, accounts: [account], vendors, world: oddWorld() },
    { clock: virtualClock(), post: () => Promise.reject(new Error('Nobody is there.')) },
  )
    .vendors(account)
    .all();

/** In bytes, without what nobody holds any more: other tests of this process left some. */
function heldMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('invented vendors', () => {
  const all = invented('one', 2_000);
  const texts = JSON.stringify(all);

  it('are the same for the same seed, and others for another', () => {
    expect(invented('one', 2_000)).toEqual(all);
    expect(invented('two', 2_000)).not.toEqual(all);
  });

  it('have distinct ids with gaps', () => {
    const ids = all.map(({ vendorid }) => vendorid as number);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids.at(-1)! - ids[0]!).toBeGreaterThan(2 * ids.length);
  });

  it('are deleted and archived in small part', () => {
    const share = (state: number) => all.filter(({ vis_state }) => vis_state === state).length / all.length;
    expect(share(1)).toBeCloseTo(0.03, 1);
    expect(share(2)).toBeCloseTo(0.02, 1);
    expect(Math.min(share(1), share(2))).toBeGreaterThan(0);
  });

  it.each([
    ['Latin with accents', /é/],
    ['Cyrillic', /\p{Script=Cyrillic}/u],
    ['Greek', /\p{Script=Greek}/u],
    ['Arabic', /\p{Script=Arabic}/u],
    ['Hebrew', /\p{Script=Hebrew}/u],
    ['Han, beyond the basic plane too', /[\u{20000}-\u{2ffff}]/u],
    ['kana', /\p{Script=Katakana}/u],
    ['Devanagari', /\p{Script=Devanagari}/u],
    ['emoji joined from several', /\u200d/],
    ['quotes', /\\"/],
    ['ampersands', /&/],
    ['line feeds', /\\n/],
    ['empty texts', /:""/],
    ['nulls', /:null/],
    ['1099 contractors', /"is_1099":true/],
    ['amounts of several currencies', /"outstanding_balance":\[\{[^\]]*\},\{/],
    ['negative amounts', /"amount":"-/],
    ['tax defaults', /"system_taxid":/],
  ])('hold %s', (_what, pattern) => {
    expect(texts).toMatch(pattern);
  });

  it('owe whole amounts in currencies without a smaller unit', () => {
    const yen = [...texts.matchAll(/"amount":"([^"]*)","code":"JPY"/g)].map(([, amount]) => amount);
    expect(yen.length).toBeGreaterThan(10);
    expect(yen.filter((amount) => !amount?.endsWith('.00'))).toEqual([]);
  });

  it('are made only on request: a hundred thousand take little memory', async () => {
    const before = heldMemory();
    const { get } = await testbed({ level: 'service', vendors: 100_000 });
    const told = await get(`${vendorsPath}?page=900&per_page=100`);
    expect(told.json.response.result.bill_vendors).toHaveLength(100);
    expect(heldMemory() - before).toBeLessThan(2_000_000);
  });
});

describe('churn', () => {
  it('makes so many changes a second, until the sandbox stops', async () => {
    const { sandbox, clock } = await testbed({ level: 'service', vendors: 50, churn: 10 });
    let changes = 0;
    sandbox.onChange(() => (changes += 1));
    await clock.advance(5_000);
    expect(changes).toBe(50);
    sandbox.stop();
    await clock.advance(5_000);
    expect(changes).toBe(50);
  });

  it('makes changes in many accounts without a leak warning from Node.js', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const { sandbox } = await testbed({
      level: 'service',
      accounts: Array.from({ length: 30 }, (_, index) => `A${index}`),
      churn: 1,
    });
    await new Promise(setImmediate);
    sandbox.stop();
    expect(warnings).toEqual([]);
  });

  it('does everything that happens to vendors', async () => {
    const service = await testbed({ level: 'service', world: ['restoreEvent=create'], vendors: 30 });
    await service.subscribe();
    const vendorService = service.sandbox.vendors(account);
    const random = seededRandom(1);
    for (let count = 0; count < 300; count += 1) changeSomething(vendorService, random);
    await service.clock.advance(1_000);
    const events = new Set(service.arrivals.map(({ form }) => form.get('name')));
    expect(events).toEqual(new Set(['bill_vendor.create', 'bill_vendor.update']));
    expect(new Set(vendorService.all().map(({ vis_state }) => vis_state))).toEqual(new Set([0, 1, 2]));
    expect(vendorService.all().length).toBeGreaterThan(30);
  });

  it('begins with a first vendor if there is none', async () => {
    const vendorService = (await testbed({ level: 'service' })).sandbox.vendors(account);
    changeSomething(vendorService, seededRandom(1));
    expect(vendorService.all()).toHaveLength(1);
  });
});
