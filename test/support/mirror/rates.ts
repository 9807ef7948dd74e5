/** A mirror that several processes have open, which share its rate limits. */
import { onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../../src/domain/clock.ts';
import type { RateWindow, ReservationOrWait } from '../../../src/domain/reading.ts';
import { openMirror, type Store } from '../../../src/store/mirror.ts';
import { migrations, namedProcess } from '../mirror-file.ts';

export const period = 60_000;

/** What a request demands of one window. */
export interface Asked {
  readonly connection: string;
  readonly window: RateWindow;
  readonly requests: number;
  readonly isPrompt?: boolean;
}

export const asked: Asked = { connection: 'one', window: 'all', requests: 5 };
export const longest = 10_000;

export function reserve(mirror: Store, more: Partial<Asked> = {}): Promise<ReservationOrWait> {
  const { connection, isPrompt, ...bound } = { ...asked, ...more };
  return mirror.reserveRequest({ connection, bounds: [{ ...bound, per: period }], longest, isPrompt });
}

/** Processes that live. */
export const alive = new Set<string>();

/** Opens a mirror as the process of that name. */
export async function openAs(path: string, clock: Clock, name: string): Promise<Store> {
  alive.add(name);
  const lockProcess = namedProcess(name, (other) => alive.has(other));
  const mirror = await openMirror({ path, migrations, clock, random: systemRandom, lockProcess });
  onTestFinished(() => mirror.close());
  return mirror;
}
