/** The options that every command takes, before its name or after it. */
import { Option, type Command } from 'commander';
import type { LogLevel } from '../../domain/log.ts';

const logLevels: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

const group = 'Common options:';

/** Of commands that change something at the service. */
export const dryRun = ['--dry-run', 'show the request and send nothing'] as const;

export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup(group);
}

export function addCommonOptions(command: Command): Command {
  const options = [
    new Option(
      '-c, --config <file>',
      'settings file; default: $VENDOR_MIRROR_CONFIG, then /etc/vendor-mirror/mirror.yaml',
    ),
    new Option('--sandbox', 'use the built-in sandbox with its own files; this is the default without settings'),
    new Option('--account <id>', 'only this account'),
    new Option('--json', 'print one JSON document instead of text'),
    new Option('--log-level <level>', 'how much to log on standard error').choices(logLevels),
  ];
  for (const option of options) command.addOption(option.helpGroup(group));
  return command;
}
