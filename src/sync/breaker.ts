/** The breaker: many absences at once wait for a person's word (DESIGN 2, rules 8 and 9). */

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
