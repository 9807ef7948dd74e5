/** The log of a command: lines of JSON, or readable ones where a person watches. */
import { createLog, prettyEntries, type Log, type LogLevel } from '../../domain/log.ts';
import type { Call } from '../process/command.ts';
import { mayStyle } from '../terminal/heading.ts';
import { visibleLines } from '../terminal/plain-text.ts';
import { withSettings } from '../process/settings-option.ts';

/** A log on standard error, of `--log-level`, or else of the `usual` one. */
export async function logOf({ context, options }: Call, usual: LogLevel): Promise<Log> {
  const { stderr, env, settingsOption } = context;
  const level = options.logLevel ?? usual;
  const pretty = stderr.isTTY ? await prettyEntries(mayStyle(stderr, env)) : undefined;
  if (!pretty && !settingsOption) return createLog(level, stderr);
  const inJson = { settingsOption: JSON.stringify(settingsOption ?? '').slice(1, -1) };
  return createLog(level, {
    write(entry) {
      const line = withSettings(inJson, entry);
      stderr.write(pretty ? pretty(readable(line)) : line);
    },
  });
}

/** An entry whose texts, some of them from outside, cannot steer the terminal. */
function readable(line: string): object {
  return JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? visibleLines(value) : value)) as object;
}
