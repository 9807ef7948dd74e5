/** Counts how often two truths meet: each alone is common, and what is right about either may be wrong about both. */
import type { Store } from '../../../src/store/mirror.ts';
import type { Reader } from './world-store.ts';

/** What the mirror is asked, beside the program and outside of its time. */
const questions = {
  'in doubt × guarded': 'SELECT 1 FROM _edits WHERE account_id = ? AND vendorid = ?',
  'ended × abandoned': "SELECT 1 FROM runs WHERE id = ? AND outcome = 'abandoned'",
  'set back × requested': 'SELECT 1 FROM _sweep_requests WHERE asked_at IS NOT NULL',
} as const;

export class Meetings {
  readonly counts = {
    /** A reading contradicts a vendor of which an edit has an unknown outcome, and is not applied yet. */
    'in doubt × guarded': 0,
    /** A vendor was read for its mark, and was marked again meanwhile. */
    'answered × overtaken': 0,
    /** A run ended, but its end was not stored: its process was killed just then, or the file was locked or full. The next run abandons it. */
    'ended × abandoned': 0,
    /** The clock is set back while a sweep is requested. */
    'set back × requested': 0,
  };
  readonly #open: () => Reader | undefined;
  readonly #serves: () => boolean;
  /** Open while the process serves: each new one reads the schema first. */
  #reader: Reader | undefined;
  /** Runs whose end was not stored. */
  readonly #unstored = new Set<number>();

  /**
   * @param open opens the mirror
   * @param serves whether the process serves; if not, nothing keeps its file open
   */
  constructor(open: () => Reader | undefined, serves: () => boolean) {
    this.#open = open;
    this.#serves = serves;
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  guarded(accountId: string, vendorid: number): void {
    this.#count('in doubt × guarded', accountId, vendorid);
  }

  setBack(): void {
    this.#count('set back × requested');
  }

  /** Listens to a mirror, without changing what it does or when. */
  observe(mirror: Store): void {
    const { queue, runs } = mirror;
    const [beginRun, finishSweep] = [runs.beginRun.bind(runs), mirror.finishSweep.bind(mirror)];
    const observedRuns: Pick<Store['runs'], 'beginRun'> = {
      beginRun: async (start) => {
        const run = await beginRun(start);
        for (const id of this.#unstored) if (this.#count('ended × abandoned', id)) this.#unstored.delete(id);
        return run;
      },
    };
    const observedMirror: Pick<Store, 'finishSweep'> = {
      finishSweep: (run, end) => {
        const finished = finishSweep(run, end);
        finished.catch(() => void this.#unstored.add(run.id));
        return finished;
      },
    };
    Object.assign(runs, observedRuns);
    Object.assign(mirror, observedMirror);
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

  /** @returns whether they met. */
  #count(meeting: keyof typeof questions, ...values: (string | number)[]): boolean {
    const reader = (this.#reader ??= this.#open());
    if (!reader) return false;
    try {
      const isMet = !reader.isEmpty && reader.rows(questions[meeting], ...values).length > 0;
      if (isMet) this.counts[meeting] += 1;
      return isMet;
    } finally {
      if (!this.#serves()) this.close();
    }
  }
}
