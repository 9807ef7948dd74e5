/** `--dry-run`: the request that a command would send, shown instead of sent. */
import { jsonText } from '../domain/steering.ts';
import { addressOf } from '../api/caller.ts';
import type { Request } from '../api/requests.ts';
import { exitStatus, type ExitStatus } from '../domain/errors.ts';
import type { Settings } from '../settings/parse.ts';
import type { Call } from './process/command.ts';
import { print, printJson, printNotice } from './terminal/print.ts';
import { visibleLines } from './terminal/text.ts';

export interface DryRunOption {
  readonly dryRun?: boolean;
}

/** Shows the request, without the token, and says that nothing was sent. */
export function showRequest(
  { context, options }: Call,
  settings: Settings,
  { method, path, body }: Request,
): ExitStatus {
  // The address of the built-in sandbox is known only while it runs.
  const { baseUrl } = settings.service;
  const url = baseUrl === null ? path : addressOf({ path }, baseUrl).href;
  if (options.json) printJson(context, { ok: true, dry_run: true, request: { method, url, body: body ?? null } });
  else {
    print(context, visibleLines(`${method} ${url}`));
    if (body !== undefined) print(context, jsonText(body));
  }
  printNotice(context, 'Nothing was sent (--dry-run).');
  return exitStatus.done;
}
