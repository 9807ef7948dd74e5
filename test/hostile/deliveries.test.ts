import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Secret } from '../../src/domain/secret.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../src/sandbox/core/random.ts';
import { parseForm, isSigned } from '../../src/webhook/delivery.ts';
import { asked } from '../support/test-size.ts';
import { flood } from '../support/deliveries/flood.ts';
import { delivery, signed } from '../support/deliveries/signed-delivery.ts';
import { account } from '../support/names.ts';
import { testbed } from '../support/testbed.ts';
import { isMissing } from '../support/needed.ts';

/** How many bad deliveries come; a million nightly. */
const bad = asked('BAD_DELIVERIES', 4_000);
/** Letters that are written before they are sent. */
const atOnce = 12_000;
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

type Delivery = ReturnType<typeof signed>;

const characters = 'abc019 &=%+/\\"\'[]{}:,;.-_~!*()';
const escapes = ['%00', '%FF', '%C3%28', '%ED%A0%80', '%F0%9F%98%80', '%', '%2', '%zz', '%0d%0a', '+', '%26', '%3D'];

/** One way each to make a true delivery a bad one. */
const spoilings: readonly ((delivery: Delivery, random: SeededRandom) => Delivery)[] = [
  (_, random) => signed({ ...delivery, object_id: String(random.below(1e6)) }, random.text(32, 'abcdef0123456789')),
  (delivery, random) => ({ ...delivery, body: `${delivery.body}&${random.text(4, 'wxyz')}=${random.pick(escapes)}` }),
  (delivery, random) => ({ ...delivery, body: delivery.body.slice(0, random.below(delivery.body.length)) }),
  (delivery, random) => ({ ...delivery, body: random.text(random.below(300), characters) + random.pick(escapes) }),
  (delivery) => ({ ...delivery, body: delivery.body.replace('object_id=', 'object_id=9') }),
  (delivery) => ({ ...delivery, body: `${delivery.body}&${delivery.body}` }),
  (delivery, random) => ({
    ...delivery,
    body: delivery.body.replace(account, random.pick(['Other', '', '../x', '6bapk'])),
  }),
  (delivery, random) => sealed(delivery, random.text(44, `${characters}ABC`)),
  (delivery) => sealed(delivery, signatureOf(delivery).slice(0, -1)),
  (delivery) => sealed(delivery, `${signatureOf(delivery)}=`),
  (delivery) => sealed(delivery, signatureOf(delivery).replace(/=$/, '')),
  (delivery) => sealed(delivery, ''),
  (delivery, random) => ({
    ...delivery,
    body: Array.from({ length: 40 + random.below(200) }, (_, n) => `k${n}=v`).join('&'),
  }),
  (delivery) => ({ ...delivery, headers: { 'content-type': delivery.headers['content-type'] ?? '' } }),
  (delivery) => ({ ...delivery, headers: { ...delivery.headers, 'content-type': 'application/json' } }),
  () =>
    signed({ name: 'callback.verify', verifier: 'x'.repeat(32), object_id: '77', account_id: account }, 'x'.repeat(32)),
];

const signatureOf = ({ headers }: Delivery): string => headers['x-service-hmac-sha256'] ?? '';

const sealed = (delivery: Delivery, signature: string): Delivery => ({
  ...delivery,
  headers: { ...delivery.headers, 'x-service-hmac-sha256': signature },
});

describe('H1 bad deliveries', () => {
  it(
    `${bad} of them, spoiled in ${spoilings.length} ways, leave no row and cause no 5xx, and a valid one is accepted after them`,
    async () => {
      const place = await testbed({ level: 'listener', clock: systemClock });
      const random = seededRandom(seedOf(seed, 'bad deliveries'));
      let answered = 0;
      while (answered < bad) {
        const deliveries = Array.from({ length: Math.min(atOnce, bad - answered) }, (_, index) =>
          spoilings[index % spoilings.length]!(signed(delivery), random),
        );
        const answers = await flood(place, deliveries);
        const statuses = Object.keys(answers).map(Number);
        expect(statuses.filter((status) => ![400, 401, 403, 415].includes(status))).toEqual([]);
        expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(deliveries.length);
        answered += deliveries.length;
      }
      expect(place.called).toMatchObject({ deliveries: 0, codes: 0 });
      expect(await place.mirror.queue.countMarks(account)).toBe(0);
      expect(await flood(place, [signed(delivery)])).toEqual({ 200: 1 });
    },
    60_000 + bad * 5,
  );
});

const python = `
import base64, hashlib, hmac, json, random, sys, urllib.parse
random.seed(int(sys.argv[1]))
RANGES = [(0x20, 0x7f), (0, 0x20), (0x7f, 0xff), (0x100, 0x800), (0x800, 0xd800), (0xe000, 0x10000), (0x10000, 0x110000)]
def text(longest):
    return "".join(chr(random.randrange(*random.choice(RANGES))) for _ in range(random.randint(0, longest)))
for _ in range(int(sys.argv[2])):
    names = ["name", "object_id", "account_id", "business_id", "identity_id", "user_id"]
    pairs = {name: text(12) for name in random.sample(names, random.randint(1, 6))}
    pairs.update({text(5): text(12) for _ in range(random.randint(0, 3))})
    items = list(pairs.items())
    random.shuffle(items)
    signed = json.dumps(dict(items), ensure_ascii=random.random() < 0.7, sort_keys=random.random() < 0.3)
    digest = hmac.new(b"k3y", signed.encode("utf-8"), hashlib.sha256).digest()
    quote = random.choice([urllib.parse.quote, urllib.parse.quote_plus])
    print(json.dumps([urllib.parse.urlencode(items, quote_via=quote), base64.b64encode(digest).decode()]))
`;

const pythonVersion = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(isMissing(pythonVersion ? undefined : 'there is no Python'))(
  `E1, E2 signatures${pythonVersion ? '' : ' (not here: there is no Python)'}`,
  () => {
    it('E2 ten thousand that Python computed with json.dumps are accepted, and none with another key', () => {
      const { stdout, stderr } = spawnSync('python3', ['-c', python, String(seed), '10000'], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      });
      const cases = stdout.split('\n').filter(Boolean);
      expect(cases.length, stderr).toBe(10_000);
      const [key, other] = [new Secret('k3y'), new Secret('k3z')];
      for (const line of cases) {
        const [body, signature] = JSON.parse(line) as [string, string];
        const pairs = parseForm(Buffer.from(body))!;
        expect(isSigned(pairs, signature, [other, key]), line).toBe(true);
        expect(isSigned(pairs, signature, [other]), line).toBe(false);
      }
    });
  },
);
