/** What may come to the listener of a running daemon, and what it may cost. */
import { describe, expect, it } from 'vitest';
import type { Testbed } from '../support/testbed/daemon-testbed.ts';
import { knock, recordingTestbed, type Letter } from '../support/deliveries/recorded-deliveries.ts';

/** Everything in the file that deliveries may move. */
function contents(at: Testbed): unknown {
  return ['vendors', 'vendor_versions', 'deliveries', 'dirty_vendors', 'callbacks'].map((table) =>
    at.query(`SELECT * FROM ${table}`),
  );
}

async function counted(at: Testbed, outcome: string): Promise<number> {
  // An examination serves a second's callers.
  await at.clock.pass(1_000);
  const { body } = await at.look('/metrics');
  return Number(
    new RegExp(`^vendor_mirror_deliveries_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0,
  );
}

const form = 'application/x-www-form-urlencoded';
const strangersCode = 'name=callback.verify&verifier=abcdefghijklmnopqrstuvwxyz0123&object_id=2001&account_id=6BApk';

describe('a running daemon refuses', () => {
  const otherBody = ({ body, ...rest }: Letter, change: (body: string) => string): Letter => ({
    ...rest,
    body: change(body),
  });
  const otherHeaders = ({ headers, ...rest }: Letter, change: Letter['headers']): Letter => ({
    ...rest,
    headers: { ...headers, ...change },
  });

  it.each<[string, number, string, (letter: Letter) => Letter]>([
    [
      'H1 a forged one',
      401,
      'wrong_signature',
      (letter) => otherHeaders(letter, { 'X-Service-Hmac-SHA256': Buffer.alloc(32, 7).toString('base64') }),
    ],
    [
      'H1 one whose signature is over something else',
      401,
      'wrong_signature',
      (letter) => otherBody(letter, (body) => body.replace(/object_id=\d+/, 'object_id=1')),
    ],
    ['a truncated one', 400, 'malformed', (letter) => otherBody(letter, (body) => body.slice(0, 30))],
    ['an unsigned one', 400, 'unsigned', ({ path, body }) => ({ path, body, headers: { 'content-type': form } })],
    [
      'H2 an oversized one',
      413,
      'too_large',
      (letter) => otherBody(letter, (body) => body + '&note='.padEnd(20_000, 'x')),
    ],
    ['one of another type', 415, 'wrong_type', (letter) => otherHeaders(letter, { 'content-type': 'text/plain' })],
    [
      'H5 one for a path that nobody gave out',
      404,
      'unknown_path',
      (letter) => ({ ...letter, path: letter.path.slice(0, -1) }),
    ],
    [
      "D2 a stranger's verification code",
      403,
      'unexpected_code',
      ({ path }) => ({ path, headers: { 'content-type': form }, body: strangersCode }),
    ],
  ])('%s with %i, counts it as %s, stores nothing and asks nothing', async (_, status, outcome, change) => {
    const { at, letter } = await recordingTestbed();
    const before = contents(at);
    expect(await knock(at, change(letter))).toBe(status);
    await at.clock.pass(60_000);
    expect(await counted(at, outcome)).toBe(1);
    expect(contents(at)).toEqual(before);
    expect(at.requests).toEqual([]);
  });
});

it('E7 C1 C3 a true delivery replayed ten thousand times costs a handful of reads and changes nothing', async () => {
  const { at, letter } = await recordingTestbed();
  const vendors = at.query('SELECT * FROM vendors');
  const answers: Record<number, number> = {};
  for (let round = 0; round < 100; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => knock(at, letter)));
    for (const status of statuses) answers[status] = (answers[status] ?? 0) + 1;
    // Ten seconds of replays.
    await at.clock.pass(100);
  }
  await at.clock.pass(60_000);
  expect(answers).toEqual({ 200: 10_000 });
  expect(at.requests.filter((line) => line.includes('/bill_vendors/')).length).toBeLessThanOrEqual(6);
  expect(at.query('SELECT * FROM vendors')).toEqual(
    vendors.map((row) => ({ ...(row as object), read_seq: expect.anything() as unknown })),
  );
  expect(at.query('SELECT outcome, count(*) AS n FROM deliveries GROUP BY 1')).toEqual([
    { outcome: 'applied', n: 1 },
    { outcome: 'unchanged', n: 10_000 },
  ]);
});
