/** The commands that run: the daemon, and single walks over the source. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { wholeFrom } from '../options/option-values.ts';

export function declareRuns(program: Command, lazy: LazyAction): void {
  declareServe(program, lazy);
  declareSync(program, lazy);
  declareReconcile(program, lazy);
  declareVerify(program, lazy);
}

function declareServe(program: Command, lazy: LazyAction): void {
  program
    .command('serve')
    .summary('run the daemon: webhooks, schedules, dashboard')
    .description(
      paragraphs(
        'Keeps the mirror fresh until it is stopped: receives webhooks, reads the vendors that they name, and sweeps on its schedules.',
        'SIGTERM or Ctrl-C stops it cleanly, a second one at once. Only one daemon can use a database.',
      ),
    )
    .option('--unregister', 'delete the callbacks that this installation registered, then exit')
    .addHelpText('after', examples(['vendor-mirror serve -c mirror.yaml']))
    .action(lazy(async () => (await import('./serve.ts')).serve));
}

function declareSync(program: Command, lazy: LazyAction): void {
  program
    .command('sync')
    .summary('mirror all vendors and gateways once')
    .description(
      paragraphs(
        'Mirrors all vendors and gateways of the service once.',
        'Exits with 0 if every account was mirrored completely, otherwise with 1. If interrupted, it keeps what it has read.',
      ),
    )
    .addHelpText(
      'after',
      examples(['vendor-mirror sync -c mirror.yaml'], ['vendor-mirror sync --account 6BApk --json']),
    )
    .action(lazy(async () => (await import('./sync.ts')).sync));
}

function declareReconcile(program: Command, lazy: LazyAction): void {
  program
    .command('reconcile')
    .summary('mirror all vendors and record every difference')
    .description(
      paragraphs(
        'Mirrors all vendors and gateways of the service once, and records every difference that no webhook had announced in the table findings.',
        'Vendors that are no longer listed are read one by one. If many are missing at once, none is marked gone: check the service, then allow it with --approve-absences.',
      ),
    )
    .option('--approve-absences <n>', 'mark up to this many missing vendors gone', wholeFrom(0))
    .addHelpText(
      'after',
      examples(['vendor-mirror reconcile'], ['vendor-mirror reconcile --account 6BApk --approve-absences 40']),
    )
    .action(lazy(async () => (await import('./sync.ts')).reconcile));
}

function declareVerify(program: Command, lazy: LazyAction): void {
  program
    .command('verify')
    .summary('compare the mirror with the service, field by field')
    .description(
      paragraphs(
        'Reads all vendors of the service and compares them with the mirror, field by field. Changes no vendor.',
        'Exits with 0 if they are equal, with 1 if they differ or the list could not be read completely.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror verify && echo equal'], ['vendor-mirror verify --json']))
    .action(lazy(async () => (await import('./verify.ts')).verify));
}
