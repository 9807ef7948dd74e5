/** Numbers of things, as people write them. */

/** `1 vendor`, `94,942 vendors`; a plural that is not the noun with an s is named. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}
