/** The accounts of one connection share one rate, and are served in turn. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

const accounts = [account, 'two', 'three'] as const;

/** Three accounts whose lists have 300 pages each, and a service that counts the requests of a token. */
const many = {
  level: 'account',
  accounts,
  vendors: 1_500,
  world: ['rateScope=token', 'perPage=honoured'],
  rateLimits: { all: 600, post: 250, callbacks: 20, windowSeconds: 60 },
} as const;
const service = { rateLimit: { all: '540/60s', post: '225/60s', callbacks: '20/60s' }, paging: { perPage: 5 } };

describe('the rate of a connection', () => {
  it('L99 three accounts on one token have no request refused, and each gets its turn', async () => {
    const asked: string[] = [];
    let refused = 0;
    const at = await testbed({
      ...many,
      settings: { service },
      rewrite: (text, { pathname }) => {
        asked.push(/account\/([^/]+)/.exec(pathname)![1]!);
        if (text.includes('Too many requests')) refused += 1;
        return text;
      },
    });
    const runs = await Promise.all(accounts.map((of) => at.pull({ of })));
    expect(runs.map(({ outcome }) => outcome)).toEqual(['complete', 'complete', 'complete']);
    expect(refused).toBe(0);
    for (let from = 0; from + 90 <= 800; from += 90)
      for (const of of accounts)
        expect(asked.slice(from, from + 90).filter((one) => one === of).length).toBeGreaterThan(20);
    expect(at.clock.monotonic()).toBeLessThan(180_000);
  });

  it.each([
    ['the same token have one rate', 'a-token', 0],
    ['tokens of their own have a rate each', 'another-token', 3],
  ])('L99 connections with %s', async (_, accessToken, moreRequests) => {
    const limit = { all: '3/60s', post: '3/60s', callbacks: '3/60s' };
    const { installation, sandbox, clock } = await testbed({
      level: 'account',
      accounts: [account, 'two'],
      token: 'a-token',
      settings: {
        accounts: [account, { id: 'two', connection: 'other' }],
        connections: { other: { auth: { accessToken } } },
        service: { auth: { accessToken: 'a-token' }, rateLimit: limit },
      },
    });
    sandbox.access.grant('another-token');
    const sent: number[] = [];
    sandbox.onRequest(() => sent.push(clock.monotonic()));
    const readThree = (of: string): Promise<unknown>[] =>
      [1, 2, 3].map(() => installation.account(of).client.vendors.page(1));
    await Promise.all([...readThree(account), ...readThree('two')]);
    expect(sent.filter((at) => at < 60_000)).toHaveLength(3 + moreRequests);
  });
});
