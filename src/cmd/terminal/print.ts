/** How commands speak: results to standard output, all else to standard error. */
import type { MirrorError } from '../../domain/errors.ts';
import type { Edge } from '../process/process-context.ts';
import { withSettings } from '../process/settings-option.ts';
import { visibleJson, visibleLines } from './plain-text.ts';

/** One line, or several, of a result. */
export function print({ stdout }: Pick<Edge, 'stdout'>, text: string): void {
  stdout.write(`${text}\n`);
}

/** One JSON document, on one line. */
export function printJson(streams: Pick<Edge, 'stdout'>, document: object): void {
  print(streams, visibleJson(document));
}

/** Something that a person should know, but that is no result. Part of it may be a stranger's words. */
export function remark(edge: Pick<Edge, 'stderr' | 'settingsOption'>, text: string): void {
  edge.stderr.write(`${visibleLines(withSettings(edge, text))}\n`);
}

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** An error as `--json` shows it. */
export function errorReport(edge: Pick<Edge, 'settingsOption'>, { code, message, hint }: MirrorError): ErrorReport {
  return { code, message: withSettings(edge, message), hint: withSettings(edge, hint) };
}

/** An error for a person: what happened, of which account where that matters, and under it what to do. */
export function complain(edge: Pick<Edge, 'stderr' | 'settingsOption'>, error: MirrorError, account?: string): void {
  const whose = account === undefined ? '' : `${account}: `;
  remark(edge, `vendor-mirror: ${whose}${error.message}\n  ${error.hint}`);
}
