/**
 * What is wrong, by cause: a problem that many accounts have is said once, with the accounts behind it. Pages, the live summary, `status` and
 * `/api/status` show these; what each account has stands with the account.
 *
 * Accounts have a problem by one cause where its code and what to do about it are the same but for names, numbers and times; where the
 * service refuses or fails, also the connection. A connection that gives no access is the cause for those of its accounts that are refused
 * alike. Few accounts with different messages stay apart.
 */
import { sentenceOf, type AccountHealth, type Health, type Problem, type ProblemCode, type Tone } from './judge.ts';

export interface Cause {
  /** As the first of the accounts has it. */
  readonly problem: Problem;
  /** Those behind it; none of a problem of the process or the installation. */
  readonly accounts: readonly string[];
  /** Whether the problem reads the same for each of them. */
  readonly isAlike: boolean;
}

/** Beyond so many accounts, people are shown sums and causes, and each account only when they ask for it. */
export const manyAccounts = 10;

const named = 3;

/** Those in most need of a person first. */
export const toneOrder: readonly Tone[] = ['bad', 'busy', 'fair', 'good'];

/** How an account is, but for what all of them share, which is said once. */
export function stateOf({ problems, verdict }: AccountHealth): { readonly tone: Tone; readonly words: string } {
  const [problem] = problems;
  if (problem) return { tone: problem.tone, words: problem.message };
  return verdict.isCorrect ? { tone: 'good', words: 'Correct' } : { tone: verdict.tone, words: verdict.words };
}

/** Those in most need of a person first, and otherwise in one order, so that nothing moves while all stays as it is. */
export function byTrouble(accounts: readonly AccountHealth[]): AccountHealth[] {
  const need = (account: AccountHealth): number =>
    account.isServed ? toneOrder.indexOf(stateOf(account).tone) : toneOrder.length;
  return [...accounts].sort((a, b) => need(a) - need(b) || (a.facts.account < b.facts.account ? -1 : 1));
}

/** Those that only a person can end first, and of these the ones of most accounts. */
export function causesOf(health: Health): Cause[] {
  const { accounts, process, installation } = health;
  const groups = new Map<string, { readonly problem: Problem; readonly of: { account: string; problem: Problem }[] }>();
  for (const problem of installation)
    if (problem.connection !== undefined) groups.set(refusedBy(problem.connection), { problem, of: [] });
  for (const account of accounts)
    for (const problem of account.problems) {
      const key = causeKey(account, problem, health);
      const group = groups.get(key) ?? { problem, of: [] };
      groups.set(key, group);
      group.of.push({ account: account.facts.account, problem });
    }
  const causes = [...groups.values()].flatMap(({ problem, of }): Cause[] => {
    const ids = of.map(({ account }) => account);
    if (problem.connection !== undefined) return [{ problem, accounts: ids, isAlike: true }];
    const isAlike = of.every((one) => sentenceOf(one.problem) === sentenceOf(problem));
    if (isAlike || of.length > named) return [{ problem, accounts: ids, isAlike }];
    return of.map((one) => ({ problem: one.problem, accounts: [one.account], isAlike: true }));
  });
  const own = causes.filter(({ accounts: ids }) => ids.length > 0);
  const others = causes.filter(({ accounts: ids }) => ids.length === 0).map(({ problem }) => problem);
  const left = installation.filter(({ connection }) => connection === undefined);
  const alone = (problem: Problem): Cause => ({ problem, accounts: [], isAlike: true });
  return [...process.map(alone), ...own.sort(moreUrgent), ...others.map(alone), ...left.map(alone)];
}

const urgency: readonly Problem['tone'][] = ['bad', 'busy', 'fair'];

function moreUrgent(a: Cause, b: Cause): number {
  return urgency.indexOf(a.problem.tone) - urgency.indexOf(b.problem.tone) || b.accounts.length - a.accounts.length;
}

const ofConnection: ReadonlySet<ProblemCode> = new Set(['access_refused', 'service_failing']);

function refusedBy(connection: string): string {
  return `connection_refused ${connection}`;
}

function causeKey({ facts, error }: AccountHealth, { code, remedy }: Problem, health: Health): string {
  const { account, connection, failing } = facts;
  if (code === 'access_refused') {
    const refused = health.facts.connections.find((one) => one.connection === connection)?.failing;
    const isExplained = health.installation.some((problem) => problem.connection === connection);
    if (isExplained && refused?.code === (error?.code ?? failing?.code)) return refusedBy(connection);
  }
  const whose = ofConnection.has(code) ? connection : '';
  return [code, whose, remedy === null ? '' : withoutParticulars(remedy, account)].join('\n');
}

/** A sentence about an account as it reads for others: without the account, numbers and times. */
export function withoutParticulars(sentence: string, account: string): string {
  return sentence.replaceAll(account, '').replace(/\d[\d.,]*( (ms|s|min|h|days?))?/g, '#');
}

/** `A0001`, or with the number of the accounts and the first few of them; empty where there is none. */
export function whoseText({ accounts, isAlike }: Pick<Cause, 'accounts' | 'isAlike'>): string {
  const [first] = accounts;
  if (first === undefined) return '';
  const more = accounts.length - named;
  if (more <= 0) return accounts.join(', ');
  const few = `${accounts.length.toLocaleString('en')} accounts (${accounts.slice(0, named).join(', ')} and ${more.toLocaleString('en')} more)`;
  return isAlike ? few : `${few}, for example ${first}`;
}

/** What is said of more accounts than a person reads, once where it differs only in names and numbers; of few, for each. */
export function together<Said extends { readonly account: string; readonly message: string }>(
  all: readonly Said[],
): { readonly whose: string; readonly first: Said }[] {
  const isMany = new Set(all.map(({ account }) => account)).size > manyAccounts;
  const groups = new Map<string, [Said, ...Said[]]>();
  for (const one of all) {
    const key = isMany ? withoutParticulars(one.message, one.account) : `${one.account}\n${one.message}`;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group;
    const isAlike = group.every(({ message }) => message === first.message);
    return { whose: whoseText({ accounts: group.map(({ account }) => account), isAlike }), first };
  });
}

/** A sentence for each cause, with the accounts behind it. */
export function causeTexts(health: Health): string[] {
  return causesOf(health).map(causeText);
}

/** What a person should do: a sentence for each cause that asks for something. */
export function advice(health: Health): string[] {
  return causesOf(health)
    .filter(({ problem }) => problem.remedy !== null)
    .map(causeText);
}

function causeText(cause: Cause): string {
  const whose = whoseText(cause);
  return `${whose}${whose === '' ? '' : ': '}${sentenceOf(cause.problem)}`;
}
