import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sign } from '../../../../src/sandbox/delivery/event-dispatcher.ts';
import { parseWorld } from '../../../../src/sandbox/core/worlds.ts';

const parameters = [
  ['name', 'bill_vendor.update'],
  ['object_id', '1006'],
  ['account_id', '6BApk'],
  ['origin', 'Bü «Z» / 東京\u007f😀"\\\n'],
] as const;

describe('the signature', () => {
  // Made with Python: hmac.new(b'k3y', json.dumps(parameters, ensure_ascii=…, sort_keys=…).encode(), sha256)
  it.each([
    ['ascii', 'arrival', 'ri6VidTNFcQTqC557AFGt2L6ZDZrLhnKSvkylueMiOM='],
    ['ascii', 'sorted', '0iOrVZpFxgUO1N3yriRreBtZbyGmEl5iAF4pivF/j0E='],
    ['utf8', 'arrival', 'vsZofqagW159DjGENeHCUpn7mhS7YzAre260Z2f2E8U='],
    ['utf8', 'sorted', 'Meofwa5RD8KQGZVudUa/YpU+KRwPtuG9Ql5SPUT1F8Y='],
  ])('E2 is what Python makes of it: %s, %s', (escaping, keyOrder, expected) => {
    const world = parseWorld([`escaping=${escaping}`, `keyOrder=${keyOrder}`]);
    expect(sign(parameters, 'k3y', world)).toBe(expected);
  });

  it('depends on every value and on the key, and in arrival order on the order', () => {
    const world = parseWorld([]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        fc.pre(value !== other);
        const signed = sign(
          [
            ['a', value],
            ['b', '1'],
          ],
          'key',
          world,
        );
        expect(
          sign(
            [
              ['a', other],
              ['b', '1'],
            ],
            'key',
            world,
          ),
        ).not.toBe(signed);
        expect(
          sign(
            [
              ['a', value],
              ['b', '1'],
            ],
            'other key',
            world,
          ),
        ).not.toBe(signed);
        expect(
          sign(
            [
              ['b', '1'],
              ['a', value],
            ],
            'key',
            world,
          ),
        ).not.toBe(signed);
      }),
    );
  });
});
