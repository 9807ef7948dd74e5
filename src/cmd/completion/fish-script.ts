/** The completion of fish: one line for each word that may follow. */
import type { CommandWords, Flag, Value } from './command-tree.ts';
import { flagsWithValue } from './flag-values.ts';

export function fishScript(tree: readonly CommandWords[]): string {
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
                contains -- (string join ' ' $at $word) ${paths.map(quoted).join(' ')}; and set at $at $word
        end
    end
    test "$at" = "$argv[1]"
end
complete -c vendor-mirror -f
${tree.flatMap(linesOf).join('\n')}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`;
}

function linesOf({ path, commands, flags, argument }: CommandWords): string[] {
  const start = `complete -c vendor-mirror -n ${quoted(`__vendor_mirror_at ${quoted(path)}`)}`;
  return [
    ...commands.map(({ name, meaning }) => `${start} -a ${name} -d ${quoted(meaning)}`),
    ...(argument === undefined || argument === 'other' ? [] : [`${start} ${valueOptions(argument)}`]),
    ...flags.map((flag) => `${start} ${namesOf(flag)} ${flagValue(flag)}-d ${quoted(flag.meaning)}`),
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
  return value === 'file' ? '-F' : `-f -a ${quoted(value.join(' '))}`;
}
