/** Counts how often two truths meet: each alone is common, and what is right about either may be wrong about both. */
import { existsSync } from 'node:fs';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Store } from '../../../src/store/mirror.ts';

/** What the mirror is asked, beside the program and outside of its time. */
const questions = {
  'in doubt × guarded': 'SELECT 1 FROM _edits WHERE account_id = ? AND vendorid = ?',
  'set back × requested': 'SELECT 1 FROM _sweep_requests WHERE asked_at IS NOT NULL',
} as const;

export class Meetings {
  readonly counts = {
    /** A reading contradicts a vendor of which an edit has an unknown outcome, and is not applied yet. */
    'in doubt × guarded': 0,
    /** A vendor was read for its mark, and was marked again meanwhile. */
    'answered × overtaken': 0,
    /** The clock is set back while a sweep is requested. */
    'set back × requested': 0,
  };
  readonly #database: string;

  constructor(database: string) {
    this.#database = database;
  }

  guarded(accountId: string, vendorid: number): void {
    this.#count('in doubt × guarded', accountId, vendorid);
  }

  setBack(): void {
    this.#count('set back × requested');
  }

  /** Listens to a mirror, without changing what it does or when. */
  observe({ queue }: Store): void {
    const settle = queue.settle.bind(queue);
    const observed: Pick<Store['queue'], 'settle'> = {
      settle: (...values) => {
        const settled = settle(...values);
        settled.then(
          (isSettled) => {
            if (!isSettled) this.counts['answered × overtaken'] += 1;
          },
          () => undefined,
        );
        return settled;
      },
    };
    Object.assign(queue, observed);
  }

  #count(meeting: keyof typeof questions, ...values: (string | number)[]): void {
    if (!existsSync(this.#database)) return;
    const reader = new Driver(this.#database, { readonly: true });
    try {
      if (reader.prepare(questions[meeting]).get(...values) !== undefined) this.counts[meeting] += 1;
    } finally {
      reader.close();
    }
  }
}
