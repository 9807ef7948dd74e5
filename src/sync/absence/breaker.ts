/** The breaker: many absences at once wait for a person's word. */
import type { Complete } from '../sweep/passes.ts';

export interface BreakerSettings {
  readonly vendors: number;
  readonly percent: number;
}

export interface Absences {
  readonly suspects: number;
  /** Vendors of the account that were present before. */
  readonly present: number;
  /** How many absences a person has allowed. */
  readonly approved: number;
}

/** Whether so many suspects may not be acted on. */
export function trips({ suspects, present, approved }: Absences, settings: BreakerSettings): boolean {
  const limit = Math.max(settings.vendors, Math.floor((present * settings.percent) / 100), approved);
  return suspects > limit;
}

/** Whether all pages of a list are empty that counts more vendors than the mirror knows: its first page may be all that it ever answers. */
export function isBlank({ pages, shown, unreadable }: Complete, known: number): boolean {
  return shown === 0 && pages > 1 && unreadable > known;
}

/** What such a list does, in words. */
export function blank({ pages, unreadable }: Complete): string {
  return `counts ${unreadable} vendors on ${pages} pages and shows none: all are hidden, or every page is answered as the first`;
}
