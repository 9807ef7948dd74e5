import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];
const [vendors, gateways] = [
  '/accounting/account/6BApk/bill_vendors/bill_vendors',
  '/accounting/account/6BApk/systems/gateways',
];
const acme = { vendor_name: 'Acme', language: 'en', currency_code: 'USD' };

it.each([
  [['vendors', 'create', ...Object.entries(acme).flatMap((pair) => ['--set', pair.join('=')])], 'POST', vendors, acme],
  [['vendors', 'edit', '7', '--set', 'city=Boise'], 'PUT', `${vendors}/7`, { city: 'Boise' }],
  [['vendors', 'delete', '7'], 'PUT', `${vendors}/7`, { vis_state: 1 }],
  [['vendors', 'archive', '7'], 'PUT', `${vendors}/7`, { vis_state: 2 }],
  [['vendors', 'restore', '7'], 'PUT', `${vendors}/7`, { vis_state: 0 }],
  [['gateways', 'remove', '26'], 'DELETE', `${gateways}/26`, null],
])('%j --dry-run shows its request, asks nothing and sends nothing', async (words, method, path, fields) => {
  const sent: unknown[] = [];
  const sandbox = await testbed({ level: 'sandbox', vendors: 3 });
  const line = await testbed({
    level: 'command',
    service: sandbox,
    fetch: (...request) => {
      sent.push(request);
      return fetch(...request);
    },
  });
  const url = `${sandbox.baseUrl}${path}`;
  const body = fields === null ? null : { bill_vendor: fields };

  const shown = await line.run(...words, '--dry-run', ...account);
  expect(shown).toMatchObject({ status: 0, stderr: 'Nothing was sent (--dry-run).\n' });
  expect(shown.stdout).toBe(body ? `${method} ${url}\n${JSON.stringify(body)}\n` : `${method} ${url}\n`);

  const json = await line.run(...words, '--dry-run', '--json', ...account);
  expect(JSON.parse(json.stdout)).toEqual({ ok: true, dry_run: true, request: { method, url, body } });
  expect(sent).toEqual([]);
});

it('an edit that could not be sent is refused by --dry-run too', async () => {
  const line = await testbed({ level: 'command', service: await testbed({ level: 'sandbox', vendors: 3 }) });
  const { status, stderr } = await line.run('vendors', 'edit', '7', '--set', 'colour=red', '--dry-run', ...account);
  expect([status, stderr]).toEqual([64, expect.stringContaining('"colour" cannot be set.')]);
});
