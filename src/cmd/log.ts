/** The log of a command: lines of JSON, or readable ones where a person watches. */
import { createLog, prettyEntries, type Log, type LogLevel } from '../log.ts';
import type { Call } from './command.ts';
import { mayStyle } from './heading.ts';
import { visibleLines } from './plain-text.ts';

/** A log on standard error, of `--log-level`, or else of the `usual` one. */
export async function logOf({ edge, options }: Call, usual: LogLevel): Promise<Log> {
  const { stderr, env } = edge;
  const level = options.logLevel ?? usual;
  if (!stderr.isTTY) return createLog(level, stderr);
  const pretty = await prettyEntries(mayStyle(stderr, env));
  return createLog(level, { write: (line) => void stderr.write(pretty(readable(line))) });
}

/** An entry whose texts, some of them strangers', cannot steer the terminal. */
function readable(line: string): object {
  return JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? visibleLines(value) : value)) as object;
}
