/** The progress of a long migration of the mirror, on standard error: a bar on a terminal, a line for every tenth part elsewhere. */
import type { ProcessContext } from '../process/process-context.ts';
import { printNotice } from './print.ts';
import { barOn } from './progress.ts';

type MigrationContext = Pick<ProcessContext, 'stderr' | 'env'>;

/** Called at each percent of a migration, up to a hundred. */
export function migrationProgress(context: MigrationContext): (progress: { readonly percent: number }) => void {
  return context.stderr.isTTY && context.env['TERM'] !== 'dumb' ? bar(context) : lines(context);
}

type Show = ReturnType<typeof migrationProgress>;

function lines(context: MigrationContext): Show {
  let reported = -10;
  return ({ percent }) => {
    if (percent < reported + 10) return;
    reported = percent - (percent % 10);
    printNotice(context, `Migrating the mirror: ${percent} %`);
  };
}

function bar(context: MigrationContext): Show {
  const single = barOn(context.stderr, 'Migrating the mirror {bar} {percentage} %');
  return ({ percent }) => {
    if (!single.isActive) single.start(100, percent);
    single.update(percent);
    if (percent === 100) single.stop();
  };
}
