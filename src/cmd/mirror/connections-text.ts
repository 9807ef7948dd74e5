/** The connections, for a person's eye. */
import type { ConnectionFacts } from '../../health/judge.ts';
import { took } from '../../domain/age.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { heading } from '../terminal/heading.ts';
import { facts } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';

/** A section; nothing where there is but one connection, of which its accounts say it all. */
export async function connectionsText(
  context: ProcessContext,
  connections: readonly ConnectionFacts[],
): Promise<string[]> {
  if (connections.length < 2) return [];
  const entries = connections.map(({ connection, accounts, failing }): [string, string] => {
    const whose = accounts === 1 ? '1 account' : `${accounts} accounts`;
    const state = failing
      ? `no access for ${took(context.clock, failing.first_at, null)}: ${visible(failing.message)}`
      : 'no request was refused';
    return [connection, `${whose}; ${state}`];
  });
  return [[heading(context, 'Connections'), await facts(context, entries)].join('\n')];
}
