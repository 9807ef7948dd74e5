/** Computes figures in a separate thread, with a read-only connection of its own, so that no delivery waits for them. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../domain/clock.ts';
import { connectReader } from '../sqlite/driver.ts';
import { fileVersion } from '../sqlite/statement.ts';
import { AccountFigures } from './account-figures.ts';
import type { Figures, FiguresAnswer, FiguresQuestion } from './figures.ts';
import { owedByAccount, type AccountOwed } from './owed.ts';
import { listVendors, type VendorList } from './vendor-list.ts';

type Read = (asked: FiguresQuestion['asked']) => Figures | VendorList | readonly AccountOwed[];

function open(): Read {
  const sqlite = connectReader((workerData as { path: string }).path);
  const figures = new AccountFigures(sqlite, systemClock);
  const owed = owedByAccount(sqlite);
  let known: { readonly version: string; readonly owed: readonly AccountOwed[] } | undefined;
  const read = sqlite.transaction<Read>((asked) => {
    if (asked === null) {
      const version = fileVersion(sqlite);
      if (known?.version !== version) known = { version, owed: owed() };
      return known.owed;
    }
    return typeof asked === 'string' ? figures.read(asked) : listVendors(sqlite, asked);
  });
  return (asked) => read.deferred(asked);
}

let read: ReturnType<typeof open> | undefined;

parentPort?.on('message', ({ id, asked }: FiguresQuestion) => {
  let answer: FiguresAnswer;
  try {
    read ??= open();
    answer = { id, figures: read(asked) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
