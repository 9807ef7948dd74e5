/** The completion of zsh: sourced, or in a file of its own in a folder of $fpath. */
import type { CommandWords, Value } from './command-tree.ts';
import { flagsWithValue, valuePatterns, type FlagValue } from './flag-values.ts';

export function zshScript(tree: readonly CommandWords[]): string {
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
        (${paths.map(quoted).join('|')}) at=\${at:+$at }$word ;;
      esac ;;
    esac
  done
  if compset -P 1 '--*='; then flag=\${IPREFIX%=}; fi
  if [[ -n $flag ]]; then
    case "$at:$flag" in
${valuePatterns(tree).map(valueCase).join('')}    esac
    return
  fi
  case "$at:$PREFIX" in
${tree.map(wordCase).join('')}  esac
}
if [[ $funcstack[1] == _vendor_mirror || $funcstack[1] == _vendor-mirror ]]; then
  _vendor_mirror "$@"
else
  compdef _vendor_mirror vendor-mirror
fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word with its meaning, as `_describe` takes them. */
function described(word: string, meaning: string): string {
  return quoted(`${word.replaceAll(':', '\\:')}:${meaning}`);
}

function completed(value: Value): string {
  if (value === 'file') return '_files';
  return value === 'other' || value.length === 0 ? 'return' : `compadd -- ${value.join(' ')}`;
}

function valueCase({ patterns, value }: FlagValue): string {
  return value === 'other'
    ? ''
    : `      (${patterns.map((one) => (one.startsWith('*') ? one : quoted(one))).join('|')}) ${completed(value)} ;;\n`;
}

function wordCase({ path, commands, flags, argument }: CommandWords): string {
  const options = flags.flatMap(({ names, meaning }) => names.map((name) => described(name, meaning)));
  const words = commands.map(({ name, meaning }) => described(name, meaning));
  const rest = words.length > 0 ? `found=(${words.join(' ')}); _describe command found` : completed(argument ?? []);
  return `    (${quoted(path)}:-*) found=(${options.join(' ')}); _describe -o option found ;;\n    (${quoted(path)}:*) ${rest} ;;\n`;
}
