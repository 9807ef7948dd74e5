/**
 * Commands of this program in sentences: they stand between backticks, and a person pastes them as they stand. An option is added to each,
 * that of the settings that it should find; an empty one changes nothing.
 */
export function withOption(option: string, text: string): string {
  if (option === '') return text;
  return text.replace(
    /`vendor-mirror ([a-z][^`]*)`/g,
    (_, command: string) => `\`vendor-mirror ${command} ${option}\``,
  );
}

/** The same in all sentences of a JSON document. */
export function withOptionInJson(option: string, json: string): string {
  return withOption(JSON.stringify(option).slice(1, -1), json);
}
