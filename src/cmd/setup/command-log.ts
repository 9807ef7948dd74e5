/** The log of a command: lines of JSON, or readable ones where a person watches. */
import { createLog, prettyEntries, type Log, type LogLevel } from '../../domain/log.ts';
import type { Call } from '../process/command.ts';
import { mayStyle } from '../terminal/heading.ts';
import { visibleLines } from '../terminal/plain-text.ts';
import { withSettings } from '../process/settings-option.ts';

/** An entry of the log, whose texts cannot steer the terminal. */
export interface ReadableEntry {
  /** As pino counts. */
  readonly level: number;
  /** In the form of ISO 8601, UTC. */
  readonly time: string;
  readonly msg: string;
  readonly account?: string;
}

/** Takes an entry, and all of it as readable text with a line break at its end. */
type ShowEntry = (entry: ReadableEntry, text: string) => void;

/**
 * A log on standard error, of `--log-level`, or else of the `usual` one: JSON, unless a terminal is there and `--json` is not. What is
 * readable goes to `show`, where somebody wants to place it.
 */
export async function logOf({ context, options }: Call, usual: LogLevel, show?: ShowEntry): Promise<Log> {
  const { stderr, env, settingsOption } = context;
  const level = options.logLevel ?? usual;
  const isRead = stderr.isTTY === true && options.json !== true;
  const pretty = isRead ? await prettyEntries(mayStyle(stderr, env)) : undefined;
  if (!pretty && !settingsOption) return createLog(level, stderr);
  const inJson = { settingsOption: JSON.stringify(settingsOption ?? '').slice(1, -1) };
  return createLog(level, {
    write(entry) {
      const line = withSettings(inJson, entry);
      if (!pretty) return void stderr.write(line);
      const parsed = readable(line);
      const text = pretty(parsed);
      if (show) show(parsed, text);
      else stderr.write(text);
    },
  });
}

/** An entry whose texts, some of them from outside, cannot steer the terminal. */
function readable(line: string): ReadableEntry {
  return JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' ? visibleLines(value) : value,
  ) as ReadableEntry;
}
