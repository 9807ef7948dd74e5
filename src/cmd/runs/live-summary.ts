/** The live summary of `serve` in a terminal: the state of each account and the last events, in a few lines that stay in place. */
import { judge, type Health, type HealthSource } from '../../health/judge.ts';
import { asMirrorError } from '../../domain/errors.ts';
import type { CommonOptions } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import type { ReadableEntry } from '../setup/command-log.ts';
import { LiveBlock } from '../terminal/live-block.ts';
import { asOfText, summaryLines, type SummaryPlace } from './summary-lines.ts';

/** From here on (pino's `warn`) an entry of the log is written above the summary, and stays; others are shown until later ones come. */
const keptLevel = 40;
const entriesShown = 5;

/** Milliseconds between two looks, and how many times as long as a look took. */
const [shortest, restFactor] = [1_000, 9];

/** Whether a terminal is watched on which nothing else was asked for. */
export function wantsSummary({ stdout, stderr, env }: ProcessContext, options: CommonOptions): boolean {
  const isTerminal = stdout.isTTY === true && stderr.isTTY === true && env['TERM'] !== 'dumb';
  return isTerminal && options.logLevel === undefined && options.json !== true;
}

export class LiveSummary {
  readonly #context: ProcessContext;
  readonly #block: LiveBlock;
  readonly #entries: string[] = [];
  #cancel = (): void => undefined;
  #state: 'waiting' | 'watching' | 'stopping' | 'over' = 'waiting';
  #last: Health | undefined;

  constructor(context: ProcessContext) {
    this.#context = context;
    this.#block = new LiveBlock(context.stdout);
  }

  /** Takes an entry of the log, and all of it as text with a line break at its end. */
  entry({ level, time, msg, account }: ReadableEntry, text: string): void {
    if (level >= keptLevel) this.#block.above(text);
    else {
      const whose = account !== undefined && (this.#last?.accounts.length ?? 0) > 1 ? `${account}: ` : '';
      this.#entries.push(`${time.slice(11, 19)} ${whose}${msg}`);
      if (this.#entries.length > entriesShown) this.#entries.shift();
    }
  }

  /** Shows what there is to see from now on, until `end`. */
  watch(source: HealthSource, place: SummaryPlace): void {
    this.#state = 'watching';
    void this.#refresh(source, place);
  }

  /** Says that the end has begun. */
  stopping(): void {
    if (this.#state !== 'watching') return;
    this.#state = 'stopping';
    this.#cancel();
    this.#block.show(['Stopping. Press Ctrl-C again to stop at once.']);
  }

  /** Leaves one line, or none where something else says why it ended. */
  end(isGood: boolean): void {
    this.#state = 'over';
    this.#cancel();
    this.#block.clear();
    if (isGood) this.#block.above(`Stopped. ${asOfText(this.#last)}\n`);
  }

  async #refresh(source: HealthSource, place: SummaryPlace): Promise<void> {
    const { clock } = this.#context;
    const begun = clock.monotonic();
    const lines = await this.#lines(source, place).catch((error: unknown) => [
      `The mirror cannot be read now: ${asMirrorError(error).message}`,
    ]);
    if (this.#state !== 'watching') return;
    this.#block.show(lines);
    const rest = Math.max(shortest, restFactor * (clock.monotonic() - begun));
    this.#cancel = clock.timer(rest, () => void this.#refresh(source, place));
  }

  async #lines(source: HealthSource, place: SummaryPlace): Promise<string[]> {
    this.#last = judge(await source.facts(), this.#context.clock.now());
    return summaryLines(this.#context, this.#last, { ...place, entries: this.#entries, room: this.#block.room });
  }
}
