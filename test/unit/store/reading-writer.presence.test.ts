/** The mirror moves a stored vendor between the states of presence as the table of `src/domain/presence.ts` says, and in no other way. */
import { describe, expect, it } from 'vitest';
import { isAbsent, nextPresence, presences, type Presence } from '../../../src/domain/presence.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { lag, row } from '../../support/testbed/store.ts';

const vendorid = 1;
const kinds = ['shown', 'unlisted', 'not_found'] as const;
type Kind = (typeof kinds)[number];

/** A page, a sweep or a read by id. Each is later than what is stored, and not too soon after it. */
async function give(at: Testbed<'store'>, kind: Kind, name = 'as it is'): Promise<void> {
  at.clocks.running += lag;
  at.clocks.wall += lag;
  const stamp = await at.ask();
  if (kind === 'shown') {
    // A list that shows again what it showed before the vendor was absent may be an old copy: it is read by id.
    if ((await at.page(stamp, row(vendorid, name))).includes('guarded'))
      await at.record(await at.ask(), row(vendorid, name));
    return;
  }
  const evidence = { kind, begun: stamp.begun, ended: stamp.begun };
  const { presence } = nextPresence(stateOf(at), evidence, lag);
  if (presence === 'suspect') await at.suspect(stamp, vendorid);
  else await at.absence(stamp, vendorid, kind);
}

function stateOf(at: Testbed<'store'>): { presence: Presence; since: number | null } {
  return at.query<{ presence: Presence; since: number | null }>(
    'SELECT presence, presence_ms AS since FROM vendors',
  )[0]!;
}

const ways: Readonly<Record<Presence, readonly Kind[]>> = {
  present: ['shown'],
  suspect: ['shown', 'unlisted'],
  missing: ['shown', 'unlisted', 'unlisted'],
  gone: ['shown', 'unlisted', 'not_found'],
};

const table = presences.flatMap((before) =>
  kinds.map((kind) => {
    const evidence = kind === 'shown' ? ({ kind } as const) : { kind, begun: lag, ended: lag };
    const { presence: after } = nextPresence({ presence: before, since: 0 }, evidence, lag);
    return { before, kind, after, changes: after !== before && (isAbsent(after) || isAbsent(before)) };
  }),
);

describe('the presence of a stored vendor', () => {
  it.each(table)('$before, $kind, is $after', async ({ before, kind, after, changes }) => {
    const at = await testbed({ level: 'store' });
    for (const step of ways[before]) await give(at, step);
    const presence = (): unknown[] => at.query('SELECT presence FROM vendors');
    const versions = (): number => at.query('SELECT seq FROM vendor_versions').length;
    expect(presence()).toEqual([{ presence: before }]);
    const versionsBefore = versions();
    await give(at, kind);
    expect(presence()).toEqual([{ presence: after }]);
    expect(versions() - versionsBefore).toBe(changes ? 1 : 0);
  });

  it.each(presences)('is present when a changed record is applied to a vendor that is %s', async (before) => {
    const at = await testbed({ level: 'store' });
    for (const step of ways[before]) await give(at, step);
    await give(at, 'shown', 'changed');
    expect(at.query('SELECT presence, vendor_name FROM vendors')).toEqual([
      { presence: 'present', vendor_name: 'changed' },
    ]);
  });
});
