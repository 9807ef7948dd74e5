import { expect, it } from 'vitest';
import { RequestFailureLog } from '../../../src/app/connections.ts';
import { createLog, silentLog } from '../../../src/domain/log.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import type { RequestFailures } from '../../../src/store/request-failures.ts';

const account = '6BApk';
const clock = { monotonic: () => 0 };
const failure = (text: string): MirrorError => new MirrorError('service_timeout', text);

function recorded(): { written: string[]; failures: Pick<RequestFailures, 'add' | 'forget'>; release: () => void } {
  const written: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const failures: Pick<RequestFailures, 'add' | 'forget'> = {
    async add(accountId, { message }) {
      await held;
      written.push(`${accountId} ${message}`);
    },
    forget(accountId) {
      written.push(`${accountId} answered`);
      return Promise.resolve();
    },
  };
  return { written, failures, release };
}

it('each failure is recorded', async () => {
  const { written, failures, release } = recorded();
  release();
  const log = new RequestFailureLog({ failures, clock, log: silentLog });
  for (const text of ['one', 'two']) log.failed(account, failure(text));
  log.failed('other', failure('three'));
  await log.answered('another');
  expect(written).toEqual([`${account} one`, `${account} two`, 'other three', 'another answered']);
});

it('a request that was interrupted here is no failure of the service', async () => {
  const { written, failures, release } = recorded();
  release();
  const log = new RequestFailureLog({ failures, clock, log: silentLog });
  log.failed(account, new MirrorError('interrupted', 'Interrupted by SIGTERM.'));
  await log.answered('another');
  expect(written).toEqual(['another answered']);
});

it('an answer is recorded once, after the failures before it, and so is a failure soon after it', async () => {
  const { written, failures, release } = recorded();
  const log = new RequestFailureLog({ failures, clock, log: silentLog });
  log.failed(account, failure('one'));
  log.failed(account, failure('two'));
  const answered = log.answered(account);
  release();
  await answered;
  await log.answered(account);
  expect(written).toEqual([`${account} one`, `${account} two`, `${account} answered`]);
  log.failed(account, failure('three'));
  await log.answered(account);
  expect(written.slice(3)).toEqual([`${account} three`, `${account} answered`]);
});

it('an answer counts even if it cannot be recorded: this is logged once at warn, and tried again with the next answer', async () => {
  const entries: string[] = [];
  const log = createLog('info', {
    write: (line) => void entries.push((JSON.parse(line) as { level: number }).level === 40 ? 'warn' : line),
  });
  let isFull = true;
  let forgotten = 0;
  const failures: Pick<RequestFailures, 'add' | 'forget'> = {
    add: () => Promise.resolve(),
    forget() {
      if (isFull) return Promise.reject(new MirrorError('disk_full', 'The disk is full.'));
      forgotten += 1;
      return Promise.resolve();
    },
  };
  const bookkeeping = new RequestFailureLog({ failures, clock, log });
  bookkeeping.failed(account, failure('one'));
  await bookkeeping.answered(account);
  await bookkeeping.answered(account);
  expect(entries).toEqual(['warn']);
  isFull = false;
  await bookkeeping.answered(account);
  await bookkeeping.answered(account);
  expect(forgotten).toBe(1);
});

it('an answer clears what another process recorded while this one had none', async () => {
  let now = 0;
  const recordedOf = new Set<string>();
  const failures: Pick<RequestFailures, 'add' | 'forget'> = {
    add: (of) => Promise.resolve(void recordedOf.add(of)),
    forget: (of) => Promise.resolve(void recordedOf.delete(of)),
  };
  const open = (): RequestFailureLog =>
    new RequestFailureLog({ failures, clock: { monotonic: () => now }, log: silentLog });
  const [daemon, command] = [open(), open()];
  await daemon.answered(account);
  command.failed(account, failure('one'));
  await command.answered('another');
  expect([...recordedOf]).toEqual([account]);
  now += 1_000;
  await daemon.answered(account);
  expect([...recordedOf]).toEqual([]);
});
