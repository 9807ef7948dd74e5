/** A daemon that is killed at any moment while it tells a receiver of changes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import { asked } from '../../support/test-size.ts';
import { flow, until } from '../../support/testbed/daemon-process.ts';
import { testbed } from '../../support/testbed.ts';

/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);
const kills = asked('KILLS', 3);

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

interface Message {
  readonly type: string;
  readonly data: { readonly seq: number; readonly vendorid: number };
}

/** Verifies each message with the specification's library, refuses some, and answers some so late that a kill comes between. */
async function receiver(random: SeededRandom) {
  const accepted: Message['data'][] = [];
  let refusing = true;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      void (async () => {
        const message = new Webhook(secret).verify(body, request.headers as Record<string, string>) as Message;
        const refused = refusing && random.happens(0.02);
        if (!refused) accepted.push(message.data);
        await later(random.below(20));
        response.writeHead(refused ? 503 : 204).end();
      })();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { accepted, port, acceptAll: () => void (refusing = false) };
}

it(
  `P2 killed ${kills} times while it sends webhooks, the daemon loses none, and each vendor's first come in order`,
  async () => {
    const world = await testbed({ level: 'sandbox', vendors: 100 });
    const target = await receiver(seededRandom(seedOf(seed, 'receiver')));
    const settings = `sync: { lag: 0s, secondLook: 1s, breaker: { vendors: 100000 } }
notify: [{ name: target, url: "http://127.0.0.1:${target.port}/", secret: "${secret}" }]`;
    const at = await testbed({ level: 'program', service: world, listens: true, settings });
    const random = seededRandom(seedOf(seed, 'kills'));
    const stopFlow = flow(world, seededRandom(seedOf(seed, 'life')));
    for (let nth = 0; nth < kills; nth++) {
      const daemon = at.launch();
      const before = target.accepted.length;
      const wanted = before + 1 + random.below(20);
      await until(() => target.accepted.length >= wanted);
      await daemon.end('SIGKILL');
      at.buryAll();
    }
    stopFlow();
    target.acceptAll();
    const daemon = await at.serve();
    const waits = (): number => {
      const [left] = at.query<{ n: number }>(`
        SELECT (SELECT count(*) FROM _notify_queue) + (SELECT max(0, 100 - count(DISTINCT vendorid)) FROM _vendor_versions)
          + (SELECT max(seq) FROM _vendor_versions) - CAST(substr(place, instr(place, ':') + 1) AS bigint) AS n FROM _notify_targets`);
      return (left?.n ?? 1) + at.query('SELECT 1 FROM dirty_vendors').length;
    };
    await until(() => waits() === 0);
    expect(await daemon.end()).toBe(0);

    // What was read between the last look and the end still waits: it is told after the next start.
    const written = at.query<{ seq: number }>(`
      SELECT v.seq FROM _vendor_versions v CROSS JOIN _notify_targets t
        LEFT JOIN _notify_queue q ON q.account_id = v.account_id AND q.vendorid = v.vendorid
      WHERE v.seq <= CAST(substr(t.place, instr(t.place, ':') + 1) AS bigint) AND v.seq <= coalesce(q.after_seq, v.seq)`);
    const told = new Set(target.accepted.map(({ seq }) => seq));
    expect(written.length).toBeGreaterThanOrEqual(100);
    expect(written.filter(({ seq }) => !told.has(seq))).toEqual([]);
    const firsts = new Map<number, number[]>();
    for (const { seq, vendorid } of target.accepted) {
      const list = firsts.get(vendorid) ?? [];
      if (!list.includes(seq)) firsts.set(vendorid, [...list, seq]);
    }
    for (const list of firsts.values()) expect(list).toEqual([...list].sort((a, b) => a - b));
    expect(target.accepted.length).toBeGreaterThan(kills);
  },
  60_000 + kills * 60_000,
);
