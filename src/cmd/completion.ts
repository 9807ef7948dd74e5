/**
 * `completion SHELL`: what a shell must know of the commands, read from the commands themselves, as a script for bash, fish or zsh.
 */
import type { Command, Option } from 'commander';
import { exitStatus } from '../domain/errors.ts';
import type { Shell } from './options.ts';
import type { CommandHandler } from './process/command.ts';

const scripts: Readonly<Record<Shell, (tree: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completionOf(program: Command): CommandHandler {
  return ({ context, args }) => {
    context.stdout.write(scripts[args[0] as Shell](commandsIn(program, '')));
    return Promise.resolve(exitStatus.done);
  };
}

/** What may stand as a value: one of some words, the name of a file, or something that no shell can know. */
type Value = readonly string[] | 'file' | 'other';

interface Flag {
  /** Every way to write it: `-c`, `--config`. */
  readonly names: readonly string[];
  readonly meaning: string;
  /** What follows it; undefined for a switch. */
  readonly value?: Value;
}

interface CommandWords {
  /** As it is typed after the program: `vendors list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly meaning: string }[];
  readonly flags: readonly Flag[];
  /** What its argument may be; undefined where it takes none. */
  readonly argument?: Value;
}

/** Every command with what may follow it, the given one first. */
function commandsIn(command: Command, path: string): CommandWords[] {
  const [argument] = command.registeredArguments;
  const inner = command.commands.map((one) => ({ name: one.name(), meaning: meaningOf(one), command: one }));
  return [
    {
      path,
      commands: inner.map(({ name, meaning }) => ({ name, meaning })),
      flags: [...command.options.map(flagOf), help],
      ...(argument && { argument: valueOf(argument.name(), argument.argChoices) }),
    },
    ...inner.flatMap((one) => commandsIn(one.command, `${path} ${one.name}`.trim())),
  ];
}

const help: Flag = { names: ['-h', '--help'], meaning: 'print help' };

function meaningOf(command: Command): string {
  return oneLine(command.summary() || (command.description().split(/\.\s|\.$/)[0] ?? ''));
}

function flagOf(option: Option): Flag {
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    meaning: oneLine(option.description),
    ...((option.required || option.optional) && {
      value: valueOf(/<.+>$/.exec(option.flags)?.[0] ?? '', option.argChoices),
    }),
  };
}

/** A value is the name of a file where its place is called one. */
function valueOf(place: string, choices: readonly string[] | undefined): Value {
  return choices ?? (/file|path/.test(place) ? 'file' : 'other');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Every name of a flag that a value follows, in any command. */
function flagsWithValue(tree: readonly CommandWords[]): string[] {
  const names = tree.flatMap(({ flags }) =>
    flags.filter(({ value }) => value !== undefined).flatMap((flag) => flag.names),
  );
  return [...new Set(names)];
}

interface FlagValue {
  /** `command path:flag`; a star means any command. */
  readonly patterns: readonly string[];
  readonly value: Value;
}

function valuePatterns(tree: readonly CommandWords[]): FlagValue[] {
  return flagsWithValue(tree).flatMap((name) => {
    const uses = tree.flatMap(({ path, flags }) =>
      flags.flatMap(({ names, value }) => (value !== undefined && names.includes(name) ? [{ path, value }] : [])),
    );
    const [first] = uses;
    if (first && uses.every(({ value }) => String(value) === String(first.value)))
      return [{ patterns: [`*:${name}`], value: first.value }];
    return uses.map(({ path, value }) => ({ patterns: [`${path}:${name}`], value }));
  });
}

/** The completion of bash. It needs no other program, and no newer bash than 3.2. */
function bashScript(tree: readonly CommandWords[]): string {
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of vendor-mirror in bash; in ~/.bashrc: source <(vendor-mirror completion bash)
_vendor_mirror() {
  local current=\${COMP_WORDS[COMP_CWORD]} at='' flag='' words='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then continue; fi
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      ${flagsWithValue(tree).join('|')}) flag=$word ;;
      -*) ;;
      *) case "\${at:+$at }$word" in
        ${paths.map(bashQuoted).join('|')}) at=\${at:+$at }$word ;;
      esac ;;
    esac
  done
  if [[ $current == = ]]; then current=''; fi
  COMPREPLY=()
  if [[ -n $flag ]]; then
    case "$at:$flag" in
${valuePatterns(tree).map(bashValueCase).join('')}      *) compopt +o default 2>/dev/null; return ;;
    esac
  else
    case "$at:$current" in
${tree.map(bashWordCase).join('')}      *) compopt +o default 2>/dev/null; return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _vendor_mirror vendor-mirror
`;
}

function bashQuoted(text: string): string {
  return `'${text}'`;
}

/** Names of files are what bash completes where it is given nothing. */
function bashValueCase({ patterns, value }: { patterns: readonly string[]; value: Value }): string {
  if (value === 'other') return '';
  return `      ${patterns.map(shellPattern).join('|')}) ${value === 'file' ? 'return' : `words=${bashQuoted(value.join(' '))}`} ;;\n`;
}

/** What stands before the flag is quoted; the star is a pattern. */
function shellPattern(pattern: string): string {
  return pattern.startsWith('*') ? pattern : `'${pattern}'`;
}

function bashWordCase({ path, commands, flags, argument }: CommandWords): string {
  const names = flags.flatMap((flag) => flag.names).join(' ');
  const words = commands.length > 0 ? commands.map(({ name }) => name) : argument;
  const options = `      ${bashQuoted(path)}:-*) words=${bashQuoted(names)} ;;\n`;
  if (words === undefined || words === 'other') return options;
  return `${options}      ${bashQuoted(path)}:*) ${words === 'file' ? 'return' : `words=${bashQuoted(words.join(' '))}`} ;;\n`;
}

function fishScript(tree: readonly CommandWords[]): string {
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of vendor-mirror in fish; in config.fish: vendor-mirror completion fish | source
function __vendor_mirror_at --description 'whether these commands stand on the line'
    set -l at
    set -l flag
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -n "$flag"
            set flag
            continue
        end
        switch $word
            case ${flagsWithValue(tree).join(' ')}
                set flag $word
            case '-*'
            case '*'
                contains -- (string join ' ' $at $word) ${paths.map(fishQuoted).join(' ')}; and set at $at $word
        end
    end
    test "$at" = "$argv[1]"
end
complete -c vendor-mirror -f
${tree.flatMap(linesOf).join('\n')}
`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`;
}

function linesOf({ path, commands, flags, argument }: CommandWords): string[] {
  const start = `complete -c vendor-mirror -n ${fishQuoted(`__vendor_mirror_at ${fishQuoted(path)}`)}`;
  return [
    ...commands.map(({ name, meaning }) => `${start} -a ${name} -d ${fishQuoted(meaning)}`),
    ...(argument === undefined || argument === 'other' ? [] : [`${start} ${valueOptions(argument)}`]),
    ...flags.map((flag) => `${start} ${namesOf(flag)} ${flagValue(flag)}-d ${fishQuoted(flag.meaning)}`),
  ];
}

function namesOf({ names }: Flag): string {
  return names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
}

function flagValue({ value }: Flag): string {
  if (value === undefined) return '';
  return value === 'other' ? '-x ' : `-r ${valueOptions(value)} `;
}

function valueOptions(value: Exclude<Value, 'other'>): string {
  return value === 'file' ? '-F' : `-f -a ${fishQuoted(value.join(' '))}`;
}

/** The completion of zsh: sourced, or in a file of its own in a folder of $fpath. */
function zshScript(tree: readonly CommandWords[]): string {
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  return `#compdef vendor-mirror
# Completion of vendor-mirror in zsh; in ~/.zshrc, after compinit: source <(vendor-mirror completion zsh)
_vendor_mirror() {
  local at='' flag='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      (${flagsWithValue(tree).join('|')}) flag=$word ;;
      (-*) ;;
      (*) case "\${at:+$at }$word" in
        (${paths.map(zshQuoted).join('|')}) at=\${at:+$at }$word ;;
      esac ;;
    esac
  done
  if compset -P 1 '--*='; then flag=\${IPREFIX%=}; fi
  if [[ -n $flag ]]; then
    case "$at:$flag" in
${valuePatterns(tree).map(zshValueCase).join('')}    esac
    return
  fi
  case "$at:$PREFIX" in
${tree.map(zshWordCase).join('')}  esac
}
if [[ $funcstack[1] == _vendor_mirror || $funcstack[1] == _vendor-mirror ]]; then
  _vendor_mirror "$@"
else
  compdef _vendor_mirror vendor-mirror
fi
`;
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word with its meaning, as `_describe` takes them. */
function described(word: string, meaning: string): string {
  return zshQuoted(`${word.replaceAll(':', '\\:')}:${meaning}`);
}

function completed(value: Value): string {
  if (value === 'file') return '_files';
  return value === 'other' || value.length === 0 ? 'return' : `compadd -- ${value.join(' ')}`;
}

function zshValueCase({ patterns, value }: FlagValue): string {
  return value === 'other'
    ? ''
    : `      (${patterns.map((one) => (one.startsWith('*') ? one : zshQuoted(one))).join('|')}) ${completed(value)} ;;\n`;
}

function zshWordCase({ path, commands, flags, argument }: CommandWords): string {
  const options = flags.flatMap(({ names, meaning }) => names.map((name) => described(name, meaning)));
  const words = commands.map(({ name, meaning }) => described(name, meaning));
  const rest = words.length > 0 ? `found=(${words.join(' ')}); _describe command found` : completed(argument ?? []);
  return `    (${zshQuoted(path)}:-*) found=(${options.join(' ')}); _describe -o option found ;;\n    (${zshQuoted(path)}:*) ${rest} ;;\n`;
}
