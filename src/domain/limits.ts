/**
 * Limits and delays of which the documents tell: each is here alone, and `npm run limits` writes the table of them into `config/README.md`.
 * Times are in milliseconds, sizes in bytes.
 */

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 24 * 3_600_000];
const [kilobyte, megabyte, gigabyte] = [2 ** 10, 2 ** 20, 2 ** 30];

export const limits = {
  apiPage: 200,
  apiUsualPage: 50,
  readerPage: 1_000,
  rowsSearched: 50_000,
  streams: 16,
  streamDelay: second / 2,
  streamComment: 15 * second,
  wholeAccounts: 50,
  verifiedById: 200,
  detailsChanged: 2_000,
  detailsOthers: 200,
  copyBelievedAfter: 10 * minute,
  copyRemembered: day,
  readsCheckedAgain: 5 * minute,
  readsCheckedAtMost: day,
  absencesAlwaysAllowed: 3,
  settingsFile: megabyte,
  deliveryBody: 16 * kilobyte,
  record: megabyte,
  recordMembers: 5_000,
  answer: 8 * megabyte,
  list: 256 * megabyte,
  callbackRetry: minute,
  callbackRetryAtMost: hour,
  silentCallback: 15 * minute,
  silentCallbackAtMost: day,
  crashDelay: second,
  crashDelayAtMost: 5 * minute,
  lockWait: 30 * second,
  journal: 64 * megabyte,
  journalCopied: minute,
  freeSpace: gigabyte,
  targets: 20,
  publishQuiet: 4 * second,
  publishLongest: minute,
  publishTime: 10 * minute,
  publishRetry: minute,
  publishRetryAtMost: hour,
  publicationLate: 30 * minute,
  targetFailing: 15 * minute,
  postgresConnect: 10 * second,
  postgresStatement: minute,
  postgresLock: 10 * second,
  /** How long a commit may take before nothing is certain. */
  postgresCommit: 5 * second,
  sinkKept: 10 * minute,
  sinkFreshness: minute,
  sinkCompared: hour,
} as const;
