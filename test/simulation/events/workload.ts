/** What people do in the account: one thing after the other, some of them several within a second. */
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import { changeSomething } from '../../../src/sandbox/account/churn.ts';
import { oddMoney, oddTexts } from '../../../src/sandbox/vendors/odd-vendors.ts';
import type { VendorService } from '../../../src/sandbox/vendors/vendor-service.ts';
import type { Plan } from '../plan/plan.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';

export interface WorkloadOptions {
  readonly plan: Plan;
  /** What happens on the first account stays the same, whatever others there are. */
  readonly nth: number;
  readonly vendorService: VendorService;
  readonly timeline: Timeline;
  readonly trace: Trace;
}

const minute = 60_000;
/** After this, vendors whose deliveries brought nothing new, or several things, are looked at again. */
const secondLook = 30_000;

/** Plans all changes of an account in the safety phase. */
export function planWorkload({ plan, nth: account, vendorService, timeline, trace }: WorkloadOptions): void {
  const random = seededRandom(seedOf(plan.seed, 'workload', ...(account === 0 ? [] : [account])));
  const length = plan.minutes * minute;
  const at = (moment: number, what: string, happen: () => void): void =>
    void timeline.timer(moment, () => {
      trace.write('life', what);
      happen();
    });
  for (let nth = 0; nth < plan.changes * plan.minutes; nth += 1)
    at(random.below(length), 'change', () => happen(vendorService, random));
  if (plan.hot !== 'no')
    for (let nth = 0; nth < plan.bursts; nth += 1) {
      const begin = random.below(length);
      const hot = random.below(1_000_000);
      for (let edit = 0; edit < 2 + random.below(4); edit += 1)
        at(begin + random.below(900), 'hot', () => editHot(vendorService, hot, random));
      if (plan.hot !== 'again') continue;
      const again = begin + secondLook + random.below(2 * plan.latency + 5_000);
      // Afterwards there is calm.
      if (again < length) at(again, 'hot again', () => editHot(vendorService, hot, random));
    }
  if (plan.mass === 'import' || plan.mass === 'both')
    at(random.below(length), 'import', () => {
      for (let nth = 0; nth < 10 + random.below(20); nth += 1) vendorService.create(oddTexts(random));
    });
  const deletes = { none: 0, import: 0, delete_few: 3, delete_many: 0.4, both: 0.4 }[plan.mass];
  if (deletes > 0)
    at(random.below(length), 'mass delete', () => {
      const alive = vendorService.all().filter((wire) => Number(wire['vis_state']) !== 1);
      const count = deletes < 1 ? Math.ceil(deletes * alive.length) : deletes;
      for (const wire of random.shuffle(alive).slice(0, count)) {
        if (random.happens(0.3)) vendorService.vanish(Number(wire['vendorid']));
        else vendorService.delete(Number(wire['vendorid']));
      }
    });
}

/** One thing, as often as it teaches something: those that move rows through a list more often than in life. */
function happen(vendorService: VendorService, random: SeededRandom): void {
  const id = vendorService.someId(random);
  const kind = random.below(100);
  if (id === undefined || kind < 12) vendorService.create(oddTexts(random));
  else if (kind < 22) vendorService.delete(id);
  else if (kind < 26) vendorService.vanish(id);
  else if (kind < 34) vendorService.restore(id);
  else if (kind < 40) {
    const enabled = random.happens(0.5);
    vendorService.edit(id, {
      tax_defaults: [{ system_taxid: 36859, enabled }],
      ...(enabled && { note: `Kind ${kind}` }),
    });
  } else changeSomething(vendorService, random);
}

/** The vendor that everybody works on: the same for the same `hot`, while it lives. */
function editHot(vendorService: VendorService, hot: number, random: SeededRandom): void {
  const all = vendorService.all();
  const wire = all[hot % Math.max(1, all.length)];
  if (!wire) return;
  const id = Number(wire['vendorid']);
  const kind = random.below(10);
  if (kind < 6) {
    const account_number = random.text(10, '0123456789');
    // Another note each time, or none.
    vendorService.edit(id, { account_number, note: kind === 0 ? null : `Note ${account_number}` });
  } else if (kind < 8) vendorService.setBalance(id, 'outstanding', [oddMoney(random, 'USD')]);
  else if (kind < 9) vendorService.delete(id);
  else vendorService.restore(id);
}
