/** What was measured, and what it says. */
import type { Host } from '../jobs/host.ts';

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

/** One row of the table: samples of the program and of its baseline, taken in turn. */
export interface Figures {
  readonly unit: 'ms' | '/s' | 'MB' | 'requests';
  readonly ours: readonly number[];
  readonly baseline: readonly number[];
  /** What else was measured, and what it should be. */
  readonly also?: readonly { readonly what: string; readonly goal: string; readonly met: boolean }[];
  /** Figures without a goal. */
  readonly notes?: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly work: string;
  readonly baseline: string;
  /** What a figure should be; undefined for what costs whatever it costs. */
  readonly goal?: Goal;
  readonly measure: (sizes: Sizes) => Promise<Figures>;
}

/** How large everything is, and where it runs. */
export interface Sizes {
  readonly host: Host;
  readonly vendors: number;
  readonly perPage: number;
  /** Samples of each side. */
  readonly samples: number;
  /** Deliveries of one sample. */
  readonly deliveries: number;
  /** Ten times as many accounts are started. */
  readonly accounts: number;
  /** The address of a PostgreSQL, of somebody who may make databases; undefined where it is not measured. */
  readonly postgres?: string | undefined;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function quantile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [low = NaN, high = NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** How far the samples lie apart, as a part of their median: the noise of the machine. */
export function spread(samples: readonly number[]): number {
  return (Math.max(...samples) - Math.min(...samples)) / median(samples);
}

export function ratio({ ours, baseline }: Figures): number {
  return median(ours) / median(baseline);
}

export function isMet(goal: Goal, figures: Figures): boolean {
  const reached = ratio(figures);
  return 'atMost' in goal ? reached <= goal.atMost : reached >= goal.atLeast;
}

/** Takes samples of both sides in turn, so that both meet the same conditions. */
export async function inTurn(
  samples: number,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<{ ours: number[]; baseline: number[] }> {
  const taken = { ours: [] as number[], baseline: [] as number[] };
  for (let sample = 0; sample < samples; sample += 1) {
    taken.baseline.push(await baseline());
    taken.ours.push(await ours());
  }
  return taken;
}
