/** Commands that read, on narrow terminals: nothing is wider than the terminal, and no word is cut. */
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

const epoch = '0123456789abcdef';
const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const settings = `accounts: [6BApk]
sandbox: { vendors: 30, seed: 1, churn: 0, records: odd }
listener: { host: 127.0.0.1, port: 0 }
admin: { port: 0 }
notify:
  - { url: "https://hooks.example/private", secret: "${secret}" }
  - { url: "https://new.example", secret: "${secret}" }`;

const delivery = (id: number, told: Row = {}): Row => ({
  id,
  account_id: '6BApk',
  received_at: `2026-11-20 11:0${id}:00.000`,
  name: 'bill_vendor.update',
  object_id: 1006,
  outcome: 'applied',
  settled_at: `2026-11-20 11:0${id}:01.000`,
  ...told,
});

const failure = 'hooks.example answered 500, which is no acceptance of the message.';

/** An installation with something to show for each command. */
async function filled(): Promise<Testbed<'command'>> {
  const wide = await testbed({ level: 'command', settings });
  await wide.run('sync');
  await wide.run('callbacks', 'register', 'bill_vendor', 'https://mirror.example.com/webhooks/6BApk/secret');
  await wide.fill({
    deliveries: [delivery(1), delivery(2, { outcome: 'pending', settled_at: null })],
    _notify_targets: [
      {
        target: 'hooks.example',
        place: `${epoch}:3`,
        began_at: '2026-11-20 09:00:00.000',
        failing_since: '2026-11-20 11:59:00.000',
        last_error: failure,
      },
    ],
    _notify_queue: [
      {
        target: 'hooks.example',
        account_id: '6BApk',
        vendorid: 1006,
        after_seq: 1,
        since: '2026-11-20 10:00:00.000',
        attempts: 12,
        last_error: failure,
      },
    ],
  });
  return wide;
}

const commands = [
  ['status'],
  ['doctor'],
  ['vendors', 'list'],
  ['vendors', 'list', '--search', 'no such vendor'],
  ['vendors', 'show', '1006'],
  ['deliveries', 'list'],
  ['callbacks', 'list'],
  ['accounts', 'list'],
  ['gateways', 'list'],
  ['notify', 'list'],
];

/** Words, and the parts of addresses and paths, which may be broken after a slash; but not the free space, which changes meanwhile. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/[\d,.]+(?=\s[kMGT]B are free)/, '')
    .split(/\s+|(?<=[^/]\/)(?!\/)/)
    .filter((word) => word !== '');

describe.each([40, 60, 80])('a terminal of %i columns', (columns) => {
  it('shows no wider line and no broken word, whatever command prints it', async () => {
    const wide = await filled();
    const textOf = async (line: Testbed<'command'>, command: readonly string[]): Promise<string> => {
      const { stdout, stderr } = await line.runBare(...command, '-c', wide.settings);
      return stdout + stderr;
    };
    const narrow = await testbed({ level: 'command', columns, clock: wide.clock, env: { NO_COLOR: '1' } });
    for (const command of commands) {
      const whole = await textOf(wide, command);
      const shown = await textOf(narrow, command);
      const known = new Set(wordsOf(whole));
      const cut = wordsOf(shown).filter((word) => !known.has(word));
      const tooWide = shown.split('\n').filter((line) => stringWidth(line) > columns);
      expect({ cut, tooWide }, command.join(' ')).toEqual({ cut: [], tooWide: [] });
    }
  });
});
