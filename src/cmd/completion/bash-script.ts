/** The completion of bash. It needs no other program, and no newer bash than 3.2. */
import type { CommandWords, Value } from './command-tree.ts';
import { flagsWithValue, valuePatterns } from './flag-values.ts';

export function bashScript(tree: readonly CommandWords[]): string {
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
        ${paths.map(quoted).join('|')}) at=\${at:+$at }$word ;;
      esac ;;
    esac
  done
  if [[ $current == = ]]; then current=''; fi
  COMPREPLY=()
  if [[ -n $flag ]]; then
    case "$at:$flag" in
${valuePatterns(tree).map(valueCase).join('')}      *) compopt +o default 2>/dev/null; return ;;
    esac
  else
    case "$at:$current" in
${tree.map(wordCase).join('')}      *) compopt +o default 2>/dev/null; return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _vendor_mirror vendor-mirror
`;
}

function quoted(text: string): string {
  return `'${text}'`;
}

/** Names of files are what bash completes where it is given nothing. */
function valueCase({ patterns, value }: { patterns: readonly string[]; value: Value }): string {
  if (value === 'other') return '';
  return `      ${patterns.map(shellPattern).join('|')}) ${value === 'file' ? 'return' : `words=${quoted(value.join(' '))}`} ;;\n`;
}

/** What stands before the flag is quoted; the star is a pattern. */
function shellPattern(pattern: string): string {
  return pattern.startsWith('*') ? pattern : `'${pattern}'`;
}

function wordCase({ path, commands, flags, argument }: CommandWords): string {
  const names = flags.flatMap((flag) => flag.names).join(' ');
  const words = commands.length > 0 ? commands.map(({ name }) => name) : argument;
  const options = `      ${quoted(path)}:-*) words=${quoted(names)} ;;\n`;
  if (words === undefined || words === 'other') return options;
  return `${options}      ${quoted(path)}:*) ${words === 'file' ? 'return' : `words=${quoted(words.join(' '))}`} ;;\n`;
}
