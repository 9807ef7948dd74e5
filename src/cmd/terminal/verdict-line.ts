/** The first line of `status` and of the live summary: whether the mirror is right. */
import { styleText } from 'node:util';
import type { Health, Tone } from '../../health/judge.ts';
import { age } from '../../domain/clock.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { mayStyle, paragraph, visible } from './text.ts';

type Terminal = Pick<ProcessContext, 'stdout' | 'env'>;

const colours = { good: 'green', fair: 'yellow', bad: 'red', busy: 'blue' } as const satisfies Record<Tone, string>;

/**
 * The verdict about the account in most need of a person, as of when or since when, coloured on a terminal that supports it.
 * @param shown a timestamp, as it is shown
 * @param more what follows it, without a full stop
 */
export async function verdictLine(
  context: Terminal,
  { verdict: { tone, words, since, isCorrect }, bySeverity, now }: Health,
  shown: (moment: string) => string,
  more = '',
): Promise<string> {
  const [worst, ...others] = bySeverity;
  const whose = worst && others.length > 0 && worst.problems.length > 0 ? `${worst.facts.account}: ` : '';
  const asOf = bySeverity.flatMap(({ isServed, asOf: moment }) => (isServed && moment !== null ? [moment] : [])).sort();
  const moment = isCorrect ? (whose === '' ? asOf[0] : worst?.asOf) : since;
  const when = moment
    ? `${isCorrect ? ' as of' : ', since'} ${shown(moment)} UTC, ${age({ now: () => now }, moment)}`
    : '';
  const text = await paragraph(context, '', visible(`${whose}${words}${when}${more}.`));
  return text
    .split('\n')
    .map((line) => coloured(context, tone, line))
    .join('\n');
}

function coloured({ stdout, env }: Terminal, tone: Tone, line: string): string {
  return mayStyle(stdout, env) ? styleText(['bold', colours[tone]], line, { validateStream: false }) : line;
}
