/** Commands that a message names, with the option that names the settings in use: pasted as they stand, they meet the same mirror. */
import type { CommonOptions } from './command.ts';
import type { ProcessContext } from './process-context.ts';

/** The option with which another command finds the same settings; empty if it finds them without one. */
export function settingsOption({ config, sandbox }: CommonOptions): string {
  if (config !== undefined) return `-c ${shellWord(config)}`;
  return sandbox ? '--sandbox' : '';
}

/** The text, with the commands in it completed. */
export function withSettings({ settingsOption: option }: Pick<ProcessContext, 'settingsOption'>, text: string): string {
  if (!option) return text;
  return text.replace(
    /`vendor-mirror ([a-z][^`]*)`/g,
    (_, command: string) => `\`vendor-mirror ${command} ${option}\``,
  );
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
