/** Computes figures in a separate thread, with a read-only connection of its own, so that no delivery waits for them. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../domain/clock.ts';
import { connectReader } from '../sqlite/driver.ts';
import { AccountFigures } from './account-figures.ts';
import type { Figures, FiguresAnswer, FiguresQuestion } from './figures.ts';
import { owedByAccount, type AccountOwed } from './owed.ts';

type Read = (accountId: FiguresQuestion['accountId']) => Figures | readonly AccountOwed[];

function open(): Read {
  const sqlite = connectReader((workerData as { path: string }).path);
  const figures = new AccountFigures(sqlite, systemClock);
  const owed = owedByAccount(sqlite);
  const read = sqlite.transaction<Read>((accountId) => (accountId === null ? owed() : figures.read(accountId)));
  return (accountId) => read.deferred(accountId);
}

let read: ReturnType<typeof open> | undefined;

parentPort?.on('message', ({ id, accountId }: FiguresQuestion) => {
  let answer: FiguresAnswer;
  try {
    read ??= open();
    answer = { id, figures: read(accountId) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
