/** Changes that odd vendors make: as many of each kind as tests need, whatever a company would do. */
import type { SeededRandom } from '../core/random.ts';
import { oddMoney, oddTexts } from '../vendors/odd-vendors.ts';
import type { VendorService } from '../vendors/vendor-service.ts';

/** One change. */
export function changeOddly(vendors: VendorService, random: SeededRandom): void {
  const id = vendors.someId(random);
  const kind = random.below(100);
  if (id === undefined || kind < 12) vendors.create({ ...oddTexts(random) });
  else if (kind < 52) editSomething(vendors, id, random);
  else if (kind < 80) moveBalance(vendors, id, random);
  else if (kind < 85) vendors.archive(id);
  else if (kind < 90) vendors.delete(id);
  else vendors.restore(id);
}

function editSomething(vendors: VendorService, id: number, random: SeededRandom): void {
  const texts = oddTexts(random);
  const [key, value] = random.pick(Object.entries(texts));
  vendors.edit(id, { [key]: value });
}

function moveBalance(vendors: VendorService, id: number, random: SeededRandom): void {
  const kind = random.happens(0.7) ? 'outstanding' : 'overdue';
  vendors.setBalance(id, kind, random.happens(0.2) ? [] : [oddMoney(random, random.pick(['USD', 'EUR', 'CAD']))]);
}
