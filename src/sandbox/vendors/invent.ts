/** Invents the vendors that an account begins with, each from its seed and number alone. */
import { seededRandom, mix } from '../core/random.ts';
import type { State, VendorRecord } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';
import { oddVendor } from './odd-vendors.ts';
import { plainVendor } from './plain-vendors.ts';

const day = 86_400_000;
/** Invented vendors were created and edited in the ten years from 2015-01-01 on. */
const firstDay = 1_420_070_400_000;
const years = 3_650 * day;

const salt = { id: 1, state: 2, times: 3, rest: 4 };

/** Ids grow with the number, distinct and with gaps: number 3 is one of 1021 to 1027. */
export function idOf(seed: number, index: number): number {
  return 1_000 + index * 7 + (mix(seed ^ salt.id, index) % 7);
}

/** The number of the vendor with this id, if an id of this account can be so. */
export function indexOf(seed: number, id: number): number | undefined {
  const index = Math.floor((id - 1_000) / 7);
  return index >= 0 && idOf(seed, index) === id ? index : undefined;
}

/** About 3 % begin deleted and 2 % archived. */
export function firstState(seed: number, index: number): State {
  const percent = mix(seed ^ salt.state, index) % 100;
  if (percent < 3) return 1;
  return percent < 5 ? 2 : 0;
}

/** When vendor `index` of `count` was created and last edited. */
export function firstTimes(seed: number, index: number, count: number): { created: number; updated: number } {
  const created = firstDay + Math.floor((years * index) / count / 1_000) * 1_000;
  const age = firstDay + years - created;
  return { created, updated: created + (mix(seed ^ salt.times, index) % Math.max(1, Math.floor(age / 1_000))) * 1_000 };
}

/** Vendor `index` of the `count` with which an account of that seed begins. */
export function inventVendor(seed: number, index: number, count: number, records: World['records']): VendorRecord {
  const random = seededRandom(mix(seed ^ salt.rest, index));
  const times = firstTimes(seed, index, count);
  const invent = { plain: plainVendor, odd: oddVendor }[records];
  return {
    vendorid: idOf(seed, index),
    state: firstState(seed, index),
    ...invent(random, times.created, index),
    ...times,
  };
}
