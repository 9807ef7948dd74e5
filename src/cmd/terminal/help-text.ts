/** The parts of a help text. */

export function paragraphs(...texts: readonly string[]): string {
  return texts.join('\n\n');
}

/** The last part of a help text: command lines, each with what it does where that is not plain. */
export function examples(...lines: readonly (readonly [line: string, meaning?: string])[]): string {
  const widest = Math.max(...lines.map(([line]) => line.length));
  const shown = lines.map(([line, meaning]) => (meaning ? `  ${line.padEnd(widest)}  # ${meaning}` : `  ${line}`));
  return `\nExamples:\n${shown.join('\n')}`;
}
