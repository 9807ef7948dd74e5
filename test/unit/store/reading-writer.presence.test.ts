/** The mirror moves a stored vendor between the states of presence as the table of `src/domain/presence.ts` says, and in no other way. */
import { describe, expect, it } from 'vitest';
import { nextPresence, presences, type Presence, type PresenceEvidence } from '../../../src/domain/presence.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { lag, row } from '../../support/testbed/store.ts';

const vendorid = 1;

/** Readings: a page, a read by id with another value, and absences. Each is later than what is stored, and not too soon after it. */
async function give(at: Testbed<'store'>, evidence: PresenceEvidence, name = 'as it is'): Promise<void> {
  at.clocks.running += lag;
  at.clocks.wall += lag;
  const stamp = await at.ask();
  switch (evidence) {
    case 'shown':
      await at.page(stamp, row(vendorid, name));
      break;
    case 'unlisted':
      await at.mirror.vendors.markSuspects('one', [vendorid], stamp);
      break;
    case 'unlisted_again':
    case 'not_found':
      await at.absence(stamp, vendorid, evidence);
  }
}

const ways: Readonly<Record<Presence, readonly PresenceEvidence[]>> = {
  present: ['shown'],
  suspect: ['shown', 'unlisted'],
  missing: ['shown', 'unlisted', 'unlisted_again'],
  gone: ['shown', 'not_found'],
};

const table = presences.flatMap((before) =>
  (['shown', 'unlisted', 'unlisted_again', 'not_found'] as const).map((evidence) => {
    const after = nextPresence(before, evidence) ?? before;
    return {
      before,
      evidence,
      after,
      changes: after !== before && after !== 'suspect' && before + after !== 'suspectpresent',
    };
  }),
);

describe('the presence of a stored vendor', () => {
  it.each(table)('$before, $evidence, is $after', async ({ before, evidence, after, changes }) => {
    const at = await testbed({ level: 'store' });
    for (const step of ways[before]) await give(at, step);
    const presence = (): unknown[] => at.query('SELECT presence FROM vendors');
    const versions = (): number => at.query('SELECT seq FROM vendor_versions').length;
    expect(presence()).toEqual([{ presence: before }]);
    const versionsBefore = versions();
    await give(at, evidence);
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
