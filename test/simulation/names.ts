/** Who is who in every simulation. */

export const account = '6BApk';
export const token = 'canary-token-5b1f3c';
export const publicUrl = 'https://mirror.example.com';
/** The callback of somebody else on the same account. */
export const foreignUri = 'https://elsewhere.example.com/webhooks/other';
