import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { vendor, version } from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { testbed } from '../../support/testbed.ts';

const first = version(11, []);

function sequences(stdout: string): number[] {
  return stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => (JSON.parse(text) as { seq: number }).seq);
}

describe('changes', () => {
  it('prints one JSON object a line, in the order learned', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({
      vendors: [vendor(11)],
      vendor_versions: [first, version(11, ['note'], { source: 'delivery', valid_from: '2026-11-20 11:00:00.000' })],
    });
    const { stdout } = await line.run('changes');
    expect(stdout.replaceAll(/[0-9a-f]{16}:/g, 'EPOCH:')).toMatchInlineSnapshot(`
      "{"seq":1,"account_id":"6BApk","vendorid":11,"at":"2026-11-20 09:00:00.000","kind":"created","changed_fields":[],"vis_state":0,"presence":"present","source":"pull","cursor":"EPOCH:1","values":{},"sandbox":true}
      {"seq":2,"account_id":"6BApk","vendorid":11,"at":"2026-11-20 11:00:00.000","kind":"updated","changed_fields":["note"],"vis_state":0,"presence":"present","source":"delivery","cursor":"EPOCH:2","values":{"note":{"old":null,"new":null}},"sandbox":true}
      "
    `);
  });

  it('L88 begins after --since, ends at --limit, and refuses what is of the future or names no history', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendor_versions: [1, 2, 3, 4].map((vendorid) => version(vendorid, [])) });
    const { stdout } = await line.run('changes');
    const [first = '', , , last = ''] = stdout
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => (JSON.parse(text) as { cursor: string }).cursor);
    expect(sequences((await line.run('changes', '--since', first, '--limit', '2')).stdout)).toEqual([2, 3]);
    expect(await line.run('changes', '--since', last)).toMatchObject({ status: 0, stdout: '' });
    for (const future of [last.replace(/4$/, '5'), last.replace(/4$/, '999999')])
      for (const more of [[], ['--follow'], ['--limit', '1']]) {
        const { status, stdout: none, stderr } = await line.run('changes', '--since', future, ...more);
        expect([status, none]).toEqual([1, '']);
        expect(stderr).toContain(`end with ${last}.`);
      }
    for (const bare of ['0', '1', '4', '999999']) {
      const { status, stdout: none, stderr } = await line.run('changes', '--since', bare);
      expect([status, none]).toEqual([64, '']);
      expect(stderr).toContain('A number alone does not say of which history it is.');
      expect(stderr).toContain('Without --since');
    }
  });

  it('continues from a cursor, and says where to start if one is invalid', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendor_versions: [1, 2, 3].map((vendorid) => version(vendorid, [])) });
    const { stdout } = await line.run('changes', '--limit', '2');
    const [, second] = stdout.split('\n').map((text) => (text === '' ? {} : JSON.parse(text)) as { cursor: string });
    expect(sequences((await line.run('changes', '--since', second!.cursor)).stdout)).toEqual([3]);
    const gone = await line.run('changes', '--since', '0123456789abcdef:2');
    expect([gone.status, gone.stdout]).toEqual([1, '']);
    expect(gone.stderr).toContain(`end with ${second!.cursor.replace(/2$/, '3')}.`);
    expect((await line.run('changes', '--since', 'yesterday')).status).toBe(64);
  });

  it('reads more than one batch completely', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendor_versions: Array.from({ length: 2_100 }, (_, index) => version(index + 1, [])) });
    expect(sequences((await line.run('changes')).stdout)).toEqual(
      Array.from({ length: 2_100 }, (_, index) => index + 1),
    );
  });

  it('follows until interrupted, and prints each change once', async () => {
    const clock = virtualClock();
    const line = await testbed({ level: 'command', clock });
    await line.fill({ vendor_versions: [first] });
    const outcome = line.run('changes', '--follow');
    await clock.waiting();
    await line.fill({ vendor_versions: [version(11, ['note'])] });
    await clock.advance(1_000);
    await clock.waiting();
    await clock.advance(1_000);
    await clock.waiting();
    line.interruption.abort();
    const { status, stdout } = await outcome;
    expect(status).toBe(0);
    expect(sequences(stdout)).toEqual([1, 2]);
  });

  it('follows on where the mirror is away for a while, and says so once', async () => {
    const clock = virtualClock();
    const line = await testbed({ level: 'command', clock });
    await line.fill({ vendor_versions: [first] });
    const outcome = line.run('changes', '--follow');
    const look = async (): Promise<void> => {
      await clock.advance(1_000);
      await Promise.race([clock.waiting(), outcome]);
    };
    await clock.waiting();
    renameSync(line.database, `${line.database}.away`);
    for (let looks = 0; looks < 3; looks++) await look();
    renameSync(`${line.database}.away`, line.database);
    await line.fill({ vendor_versions: [version(11, ['note'])] });
    await look();
    line.interruption.abort();
    const { status, stdout, stderr } = await outcome;
    expect([status, sequences(stdout)]).toEqual([0, [1, 2]]);
    expect(stderr.match(/Nothing is mirrored yet/g)).toHaveLength(1);
  });
});
