/** `notify list`, `notify retry`, `notify forget`, and what `status` says of outgoing webhooks. */
import { beforeEach, describe, expect, it } from 'vitest';
import { version, type Row } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const epoch = '0123456789abcdef';
const target = (name: string, told: Row = {}): Row => ({
  target: name,
  place: `${epoch}:3`,
  began_at: '2026-11-20 09:00:00.000',
  delivered_at: '2026-11-20 11:58:00.000',
  ...told,
});
const waiting = (name: string, vendorid: number, told: Row = {}): Row => ({
  target: name,
  account_id: '6BApk',
  vendorid,
  after_seq: 1,
  since: '2026-11-20 11:50:00.000',
  due_at: '2026-11-20 12:00:05.000',
  due_ms: 5_000,
  attempts: 1,
  last_error: 'hooks.example answered 500.',
  ...told,
});
const parked = { due_at: null, due_ms: null, attempts: 12, since: '2026-11-20 10:00:00.000' };

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const settings = `sandbox: { vendors: 30, seed: 1, churn: 0, records: odd }
notify:
  - { url: "https://hooks.example/private-path?key=private", secret: "${secret}" }
  - { url: "https://new.example", secret: "${secret}" }
  - { name: quiet, url: "https://gone.example", secret: "${secret}" }`;

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({ level: 'command', settings });
  await line.fill({
    _feed_epochs: [{ position: 2, epoch, after_seq: 0 }],
    vendor_versions: [version(1, []), version(2, []), version(3, [])],
    _notify_targets: [
      target('hooks.example', { failing_since: '2026-11-20 11:59:00.000', last_error: 'hooks.example answered 500.' }),
      target('quiet', {
        disabled_at: '2026-11-20 11:59:30.000',
        last_error: 'quiet answered 410: it wants no more messages.',
      }),
      target('old.example', { place: `${epoch}:1` }),
    ],
    _notify_queue: [waiting('hooks.example', 1), waiting('hooks.example', 2, parked)],
  });
});

describe('notify list', () => {
  it('counts each vendor once that changed after a receiver answered 410, as the metrics do', async () => {
    await line.fill({
      vendor_versions: [version(2, ['note']), version(4, []), version(4, ['note'])],
      _notify_queue: [waiting('quiet', 1), waiting('quiet', 2, parked)],
    });
    const { stdout } = await line.run('notify', 'list', '--json');
    const { targets } = JSON.parse(stdout) as { targets: { target: string; waiting: number; parked: number }[] };
    expect(targets.find((one) => one.target === 'quiet')).toMatchObject({ waiting: 2, parked: 1 });
  });

  it('shows each target with its state and lag, what was given up, and nothing of an address or a secret', async () => {
    const { status, stdout, stderr } = await line.run('notify', 'list');
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "target         state                   lag  waiting  parked  last accepted  error
      hooks.example  failing              10 min        1       1  2 min ago      hooks.example answered 500.
      old.example    not in the settings     3 h        2       0  2 min ago      –
      quiet          disabled               none        0       0  2 min ago      quiet answered 410: it wants no more messages.
      new.example    not begun              none        0       0  never          –

      parked for     account  vendor  since    attempts  error
      hooks.example  6BApk         2  2 h ago        12  hooks.example answered 500.
      "
    `);
    expect(stdout + stderr).not.toContain('private');
    expect(stdout + stderr).not.toContain(secret);
  });

  it('gives the same as JSON', async () => {
    const { stdout } = await line.run('notify', 'list', '--json');
    const told = JSON.parse(stdout) as { targets: Row[]; parked: Row[] };
    expect(told.targets.map(({ target, state, lag_seconds, behind }) => [target, state, lag_seconds, behind])).toEqual([
      ['hooks.example', 'failing', 600, 0],
      ['old.example', 'not in the settings', 10_800, 2],
      ['quiet', 'disabled', 0, 0],
      ['new.example', 'not begun', 0, 0],
    ]);
    expect(told.targets.map(({ parked_error }) => parked_error)).toEqual([
      'hooks.example answered 500.',
      ...[null, null, null],
    ]);
    expect(told.parked).toMatchObject([{ target: 'hooks.example', vendorid: 2, attempts: 12 }]);
    expect(stdout).not.toContain('private');
  });
});

describe('notify retry', () => {
  it('sends again what was given up, and enables a disabled target', async () => {
    expect((await line.run('notify', 'retry')).stdout).toBe(
      'quiet is enabled again. The changes of 1 vendor are sent again by the running daemon.\n',
    );
    expect((await line.run('notify', 'retry')).stdout).toBe('Nothing was given up.\n');
    expect(JSON.parse((await line.run('notify', 'list', '--json')).stdout)).toMatchObject({ parked: [] });
  });

  it('handles only the named target, and refuses an unknown one', async () => {
    expect((await line.run('notify', 'retry', 'quiet')).stdout).toBe('quiet is enabled again.\n');
    expect(await line.run('notify', 'retry', 'nobody')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('There is no target nobody') as string,
    });
  });
});

describe('notify forget', () => {
  it('deletes a target that the settings no longer name, and refuses all others', async () => {
    expect(await line.run('notify', 'forget', 'old.example')).toMatchObject({
      status: 0,
      stdout: 'old.example is forgotten.\n',
    });
    expect(await line.run('notify', 'forget', 'old.example')).toMatchObject({ status: 64 });
    expect(await line.run('notify', 'forget', 'quiet')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('The settings name quiet') as string,
    });
  });
});

describe('status', () => {
  it('shows the state of each target, and what to do', async () => {
    const { stdout } = await line.run('status');
    expect(stdout).toContain('Outgoing webhooks');
    expect(stdout).toContain('hooks.example  failing; the oldest change has waited 10 min; 1 vendor given up');
    expect(stdout).toContain('`vendor-mirror notify retry hooks.example` sends them again');
    expect(stdout).toContain('`vendor-mirror notify forget old.example` deletes it');
    expect(stdout).toContain('quiet answered 410.');
    expect(stdout).not.toContain('private');
    const told = JSON.parse((await line.run('status', '--json')).stdout) as { notify: Row[] };
    expect(told.notify).toHaveLength(4);
  });
});

describe('doctor', () => {
  it('L44 names each target that needs a person, as status does', async () => {
    const { checks } = JSON.parse((await line.run('doctor', '--json')).stdout) as { checks: Row[] };
    const { problems } = JSON.parse((await line.run('status', '--json')).stdout) as { problems: Row[] };
    const told = checks.filter(({ check }) => check === 'outgoing webhooks');
    expect(told.map(({ message }) => message)).toHaveLength(3);
    expect(told.map(({ message, remedy }) => [message, remedy])).toEqual(
      problems.filter(({ code }) => code !== 'no_daemon').map(({ message, what_to_do }) => [message, what_to_do]),
    );
  });
});
