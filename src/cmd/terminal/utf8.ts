/** Text that comes from outside on its way to the service: it arrives there as it was meant, or is refused here. */
import { MirrorError } from '../../domain/errors.ts';

/**
 * The text of bytes, without a byte order mark.
 * @throws MirrorError `usage` if they are not UTF-8: replacement characters would be stored as if they were the text.
 */
export function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new MirrorError(
      'usage',
      `${name} is not UTF-8 text; convert it first, such as by \`iconv -f latin1 -t utf-8\`.`,
    );
  }
}

/** The system hands over arguments as text already: bytes that were not UTF-8 are U+FFFD by then. */
export function isDamaged(argument: string): boolean {
  return argument.includes('\ufffd') || !argument.isWellFormed();
}
