/** What is recorded of a person's commands: what they asked for, what the program sent and looked at for it, and what it told them. */
import type { VendorEdit } from '../../../src/api/requests.ts';
import type { SyncAccount } from '../../../src/sync/sync-account.ts';

/** What a person wants, however often they say so; a creation has no number yet. Moments are milliseconds of the timeline. */
export interface Intent {
  readonly account: string;
  readonly vendorid: number | undefined;
  readonly fields: VendorEdit;
  /** Times that the program sent it. */
  readonly calls: WriteCall[];
  /** When the program began to look at what the service shows of the vendor. */
  readonly looks: number[];
  /** When the person was told that it is done, and of which vendor. */
  readonly told: { readonly at: number; readonly vendorid: number }[];
  /** When the person was told that the service shows other values. */
  readonly refused: number[];
}

export interface WriteCall {
  readonly daemon: number;
  readonly from: number;
  /** Whether the command said `--again`. */
  readonly again: boolean;
  /** Whether the program read the service's answer. */
  isAnswered: boolean;
}

/** The account as the process syncs it, with a record of each look and each write. */
export function recordingAccount(
  account: SyncAccount,
  intent: Intent,
  { daemon, again, now }: { readonly daemon: number; readonly again: boolean; readonly now: () => number },
): SyncAccount {
  const { vendors } = account;
  const sends = async <Answer>(send: () => Promise<Answer>): Promise<Answer> => {
    const call: WriteCall = { daemon, from: now(), again, isAnswered: false };
    intent.calls.push(call);
    const answer = await send();
    call.isAnswered = true;
    return answer;
  };
  const looks = (): void => void intent.looks.push(now());
  const recording: SyncAccount['vendors'] = {
    page(...asked) {
      looks();
      return vendors.page(...asked);
    },
    read(...asked) {
      looks();
      return vendors.read(...asked);
    },
    create: (...asked) => sends(() => vendors.create(...asked)),
    edit: (...asked) => sends(() => vendors.edit(...asked)),
  };
  return { ...account, vendors: recording };
}
