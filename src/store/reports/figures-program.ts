/** Computes figures in a separate thread, with a read-only connection of its own, so that no delivery waits for them. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../domain/clock.ts';
import { connectReader, Transactions } from '../sqlite/driver.ts';
import { fileVersion, SqliteConnection } from '../sqlite/connection.ts';
import { AccountFigures } from './account-figures.ts';
import type { Figures, FiguresAnswer, FiguresQuestion } from './figures.ts';
import { owedByAccount, type AccountOwed } from './owed.ts';
import { listVendors, type VendorList } from './vendor-list.ts';

type Read = (asked: FiguresQuestion['asked']) => Promise<Figures | VendorList | readonly AccountOwed[]>;

function open(): Read {
  const sqlite = connectReader((workerData as { path: string }).path);
  const connection = new SqliteConnection(sqlite);
  const figures = new AccountFigures(connection, systemClock);
  const owed = owedByAccount(connection);
  let known: { readonly version: string; readonly owed: readonly AccountOwed[] } | undefined;
  const transactions = new Transactions(sqlite);
  const read: Read = async (asked) => {
    if (asked === null) {
      const version = fileVersion(sqlite);
      if (known?.version !== version) known = { version, owed: await owed() };
      return known.owed;
    }
    return typeof asked === 'string' ? await figures.read(asked) : await listVendors(connection, asked);
  };
  return (asked) => transactions.run('deferred', () => read(asked));
}

let read: ReturnType<typeof open> | undefined;

async function answer({ id, asked }: FiguresQuestion): Promise<FiguresAnswer> {
  try {
    read ??= open();
    return { id, figures: await read(asked) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (question: FiguresQuestion) => {
  void answer(question).then((answered) => parentPort?.postMessage(answered));
});
