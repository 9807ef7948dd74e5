/** The accounts of every simulation, and who has a callback on them. */
import { account, otherAccount } from '../../support/names.ts';

/** Two accounts of one service, in one mirror: their vendors bear the same numbers. */
export const accounts = [account, otherAccount] as const;
/** The one on which somebody else has a callback, too. */
export const sharedAccount = account;
export const token = 'canary-token-5b1f3c';
/** The callback of somebody else on the same account. */
export const foreignUri = 'https://elsewhere.example.com/webhooks/other';
export { publicUrl } from '../../support/names.ts';
