/** The table of limits and delays that `config/README.md` tells, from those of the program. */
import { inWords } from '../../src/domain/duration.ts';
import { limits } from '../../src/domain/limits.ts';

type Limit = keyof typeof limits;
type Told = readonly [Limit | readonly [Limit, Limit], 'count' | 'time' | 'size', string];

const told: readonly Told[] = [
  ['apiPage', 'count', 'rows on a page of the admin API, at most: vendors, changes, a timeline'],
  ['apiUsualPage', 'count', 'rows on a page of vendors or of a timeline, where no `limit` is given'],
  ['readerPage', 'count', 'rows on a page of the reader library, at most'],
  ['rowsSearched', 'count', 'vendors or changes that are looked at for one page'],
  ['streams', 'count', 'readers of the change feed as a stream, at once'],
  ['streamDelay', 'time', 'until a stream sends a new change'],
  ['streamComment', 'time', 'between two comments that keep a stream open'],
  ['wholeAccounts', 'count', 'accounts that `status --json` and `/api/status` describe whole'],
  ['verifiedById', 'count', 'vendors that `verify` reads by id, without `--full`'],
  ['detailsChanged', 'count', 'new and changed vendors that are read by id after one run, at most'],
  ['detailsOthers', 'count', 'other vendors that are read by id after one run, at most'],
  ['copyBelievedAfter', 'time', 'until a list that goes back is believed, where no vendor can be read by id; at least'],
  ['copyRemembered', 'time', 'for which the age of an old copy of a list counts'],
  [
    ['readsCheckedAgain', 'readsCheckedAtMost'],
    'time',
    'until the service is asked again whether it reads vendors by id',
  ],
  ['absencesAlwaysAllowed', 'count', "vendors a day that may become absent without a person's word, in any account"],
  ['settingsFile', 'size', 'the settings file, at most'],
  ['deliveryBody', 'size', 'the body of a delivery, at most'],
  ['deliveryAnswer', 'time', 'after which a delivery is answered with 503, whatever the mirror does'],
  ['record', 'size', 'a vendor in an answer, at most'],
  ['recordMembers', 'count', 'members of a vendor and of what it contains, at most'],
  ['listMembers', 'count', 'members of the vendors of a page, beyond which each may have fewer'],
  ['recordMembersBeyond', 'count', 'members of such a vendor, at most; one that has more is read by id'],
  ['answer', 'size', 'an answer of the service, at most'],
  ['list', 'size', 'an answer with a list, at most; a sixteenth of the memory, if that is less'],
  [['callbackRetry', 'callbackRetryAtMost'], 'time', 'until a callback that the service refused is registered again'],
  [
    ['silentCallback', 'silentCallbackAtMost'],
    'time',
    'between two new codes for a callback that brings nothing although vendors change',
  ],
  [['crashDelay', 'crashDelayAtMost'], 'time', 'that the first run waits after runs that died with their process'],
  ['lockWait', 'time', 'for which a lock of another program is waited for'],
  ['journal', 'size', "the mirror's journal (`-wal`), before the log and `doctor` warn"],
  ['journalCopied', 'time', 'between two copies of the journal into the file'],
  ['freeSpace', 'size', 'free beside the mirror, below which `doctor` warns'],
  ['targets', 'count', 'receivers of outgoing webhooks (`notify`), at most'],
  ['targetFailing', 'time', 'without success, after which a receiver is called failing'],
  ['publishQuiet', 'time', 'without a change, after which a publication is written'],
  ['publishLongest', 'time', 'after a change, within which a publication is begun'],
  ['publishTime', 'time', 'after which a publication is given up for this time'],
  [['publishRetry', 'publishRetryAtMost'], 'time', 'until a publication that failed is tried again'],
  ['publicationLate', 'time', 'that a publication may lack changes before it is called late'],
  ['postgresConnect', 'time', 'until a connection to a PostgreSQL (`publish`) is given up'],
  ['postgresStatement', 'time', 'until one of its answers is given up, and it gives up a transaction of ours'],
  ['postgresCommit', 'time', 'after which it is not certain whether a mirror in PostgreSQL has what was written'],
  ['processRenewed', 'time', 'after which a process says again that it uses a mirror in PostgreSQL'],
  ['standbyLooks', 'time', 'after which a daemon that waits looks again whether another one is still there'],
  ['processSilence', 'time', 'of silence after which such a process counts as gone'],
  ['postgresLock', 'time', 'for which a lock of another program is waited for there'],
  ['sinkKept', 'time', 'for which no other installation may write the rows of a mirror there'],
  ['sinkFreshness', 'time', 'between two looks whether `freshness` there must be written'],
  ['sinkCompared', 'time', 'between two comparisons of all rows there with the mirror, at least'],
];

function inBytes(bytes: number): string {
  const [size, unit] = [
    [2 ** 30, 'GB'],
    [2 ** 20, 'MB'],
    [2 ** 10, 'kB'],
  ].find(([size]) => bytes >= Number(size)) as [number, string];
  return `${bytes / size} ${unit}`;
}

const words = {
  count: (count: number): string => count.toLocaleString('en'),
  time: (ms: number): string => (ms < 1_000 ? `${ms} ms` : inWords(ms)),
  size: inBytes,
};

/** A range is of a wait that doubles. */
function valueOf(limit: Told[0], kind: Told[1]): string {
  if (typeof limit === 'string') return words[kind](limits[limit]);
  return limit.map((one) => words[kind](limits[one])).join(' to ');
}

const widest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));

/** A Markdown table, formatted as the documents are. */
export function limitsTable(): string {
  const rows = told.map(([limit, kind, what]) => [valueOf(limit, kind), what] as const);
  const all = [['Limit', 'What it is'] as const, ...rows];
  const [value, what] = [widest(all.map(([first]) => first)), widest(all.map(([, second]) => second))];
  const line = ([first, second]: readonly [string, string]): string =>
    `| ${first.padEnd(value)} | ${second.padEnd(what)} |`;
  const [head, ...body] = all.map(line);
  return [head, `| ${'-'.repeat(value)} | ${'-'.repeat(what)} |`, ...body].join('\n');
}

/** Limits that no row tells. */
export function untold(): string[] {
  const named = new Set<string>(told.flatMap(([limit]) => limit));
  return Object.keys(limits).filter((limit) => !named.has(limit));
}
