/** The commands that run: the daemon, and single walks over the source. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { wholeFrom } from '../options/option-values.ts';

export function declareRuns(program: Command, does: Does): void {
  declareServe(program, does);
  declareSync(program, does);
  declareReconcile(program, does);
  declareVerify(program, does);
}

function declareServe(program: Command, does: Does): void {
  program
    .command('serve')
    .summary('the daemon: webhooks, queue, schedules, health')
    .description(
      paragraphs(
        'Keeps the mirror fresh until it is stopped: takes webhooks, reads what they announce, and sweeps on its schedules.',
        'SIGTERM or Ctrl-C stops it; a second one at once. Only one runs on a database.',
      ),
    )
    .option('--unregister', 'delete the callbacks that this installation registered, and end')
    .addHelpText('after', examples(['vendor-mirror serve -c mirror.yaml']))
    .action(does(async () => (await import('./serve.ts')).serve));
}

function declareSync(program: Command, does: Does): void {
  program
    .command('sync')
    .summary('mirror all vendors and gateways, once')
    .description(
      paragraphs(
        'Mirrors all vendors and gateways of the service, once.',
        'Exits with 0 if every account was mirrored completely, with 1 if not. Interrupted, it keeps what it has read.',
      ),
    )
    .addHelpText(
      'after',
      examples(['vendor-mirror sync -c mirror.yaml'], ['vendor-mirror sync --account 6BApk --json']),
    )
    .action(does(async () => (await import('./sync.ts')).sync));
}

function declareReconcile(program: Command, does: Does): void {
  program
    .command('reconcile')
    .summary('mirror all, and account for every difference')
    .description(
      paragraphs(
        'Mirrors all vendors and gateways of the service, once, and writes every difference that no webhook had announced into the ledger, the table findings.',
        'Vendors that are no longer listed are asked after one by one. Many at once are not believed: look at the service, and allow them with --approve-absences.',
      ),
    )
    .option('--approve-absences <n>', 'believe up to so many absences', wholeFrom(0))
    .addHelpText(
      'after',
      examples(['vendor-mirror reconcile'], ['vendor-mirror reconcile --account 6BApk --approve-absences 40']),
    )
    .action(does(async () => (await import('./sync.ts')).reconcile));
}

function declareVerify(program: Command, does: Does): void {
  program
    .command('verify')
    .summary('compare the mirror with the source, field by field')
    .description(
      paragraphs(
        'Walks the source and compares every vendor with the mirror, field by field. Writes no vendor.',
        'Exits with 0 if they are equal, with 1 if they differ or the source could not be walked whole.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror verify && echo equal'], ['vendor-mirror verify --json']))
    .action(does(async () => (await import('./verify.ts')).verify));
}
