/** Who is who in every simulation. */

/** Two accounts of one service, in one mirror: their vendors bear the same numbers. */
export const accounts = ['6BApk', '7CBql'] as const;
/** The one on which somebody else has a callback, too. */
export const sharedAccount = accounts[0];
export const token = 'canary-token-5b1f3c';
export const publicUrl = 'https://mirror.example.com';
/** The callback of somebody else on the same account. */
export const foreignUri = 'https://elsewhere.example.com/webhooks/other';
