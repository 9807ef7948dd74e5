/**
 * Bearer tokens, their accounts and their scopes; the events that can be registered, and the scope that each needs.
 */
import type { IssuedRefresh, Memory, RefreshEntry, TokenEntry } from './memory.ts';
import { denied, Refusal, type Area, type Reply } from './reply.ts';

const writeVerbs = ['create', 'update', 'delete'] as const;
const mailVerbs = [...writeVerbs, 'sendByEmail'] as const;

const nouns: Readonly<Record<string, { readonly verbs: readonly string[]; readonly scope: string }>> = {
  bill: { verbs: writeVerbs, scope: 'user:bills:read' },
  bill_vendor: { verbs: writeVerbs, scope: 'user:bill_vendors:read' },
  category: { verbs: writeVerbs, scope: 'user:expenses:read' },
  client: { verbs: writeVerbs, scope: 'user:clients:read' },
  credit_note: { verbs: writeVerbs, scope: 'user:credit_notes:read' },
  estimate: { verbs: mailVerbs, scope: 'user:estimates:read' },
  expense: { verbs: writeVerbs, scope: 'user:expenses:read' },
  invoice: { verbs: mailVerbs, scope: 'user:invoices:read' },
  item: { verbs: writeVerbs, scope: 'user:billable_items:read' },
  payment: { verbs: writeVerbs, scope: 'user:payments:read' },
  project: { verbs: writeVerbs, scope: 'user:projects:read' },
  recurring: { verbs: writeVerbs, scope: 'user:invoices:read' },
  service: { verbs: writeVerbs, scope: 'user:billable_items:read' },
  tax: { verbs: writeVerbs, scope: 'user:taxes:read' },
  time_entry: { verbs: writeVerbs, scope: 'user:time_entries:read' },
};

const eventScopes: readonly string[] = [...new Set(Object.values(nouns).map(({ scope }) => scope))];

/** Every event there is, `noun.verb`. */
export const eventNames: readonly string[] = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  verbs.map((verb) => `${noun}.${verb}`),
);

/** The scope that registering this event (or noun) needs; undefined if there is no such event. */
export function scopeOf(event: string): string | undefined {
  if (!eventNames.includes(event) && !Object.hasOwn(nouns, event)) return undefined;
  return nouns[nounOf(event)]?.scope;
}

function nounOf(event: string): string {
  return event.split('.', 1)[0] ?? '';
}

/** Whether a callback registered for `registered` is sent `event`. */
export function isRegisteredFor(registered: string, event: string): boolean {
  return registered === event || registered === nounOf(event);
}

/**
 * The list filter: `noun.verb` matches itself, a noun (also in its plural, as the reference writes it)
 * matches itself and all of its events.
 */
export function filterMatches(filter: string, registered: string): boolean {
  const noun = nounOf(registered);
  return filter === registered || filter === noun || filter === pluralOf(noun);
}

function pluralOf(noun: string): string {
  if (noun.endsWith('y')) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('x') ? `${noun}es` : `${noun}s`;
}

export interface Grant {
  readonly scopes: ReadonlySet<string>;
  /** Accounts that the token opens; all of them when left out. */
  readonly accounts: ReadonlySet<string> | undefined;
  /** Milliseconds since 1970; never when left out. */
  readonly expires: number | undefined;
}

/** What a code of the authorization page grants; a restart of the sandbox forgets it. */
export interface IssuedCode {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** SHA-256 of the verifier (PKCE), base64url; null where none was announced. */
  readonly challenge: string | null;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

export const profileRead = 'user:profile:read';
export const vendorsRead = 'user:bill_vendors:read';
export const vendorsWrite = 'user:bill_vendors:write';
export const gatewaysRead = 'user:online_payments:read';
export const gatewaysWrite = 'user:online_payments:write';

export const allScopes: readonly string[] = [
  ...new Set([profileRead, vendorsRead, vendorsWrite, gatewaysRead, gatewaysWrite, ...eventScopes]),
];

export class Access {
  readonly #grants = new Map<string, Grant>();
  /** Refresh tokens; those that were spent are known where they were given to a start. */
  readonly #refreshTokens = new Map<string, RefreshEntry>();
  readonly #codes = new Map<string, IssuedCode>();
  readonly #write: Memory['write'];

  constructor(memory?: Memory) {
    this.#write = memory?.write ?? (() => undefined);
    for (const entry of memory?.entries ?? []) {
      if (entry.kind === 'token' && entry.value) this.#grants.set(entry.key, grantOf(entry.value));
      if (entry.kind === 'refresh') this.#refreshTokens.set(entry.key, entry.value ?? 'spent');
    }
  }

  /** Makes a token valid for this start, for every account. */
  accept(token: string, scopes: readonly string[] = allScopes, expires?: number): void {
    this.#grants.set(token, grantOf({ scopes, accounts: undefined, expires }));
  }

  /** Makes a token valid, by default for every scope and account. */
  grant(token: string, scopes: readonly string[] = allScopes, accounts?: readonly string[], expires?: number): void {
    const value = { scopes, accounts, expires };
    this.#grants.set(token, grantOf(value));
    this.#write({ kind: 'token', key: token, value });
  }

  /** Makes a refresh token valid for one use, unless it was given to an earlier start and used. */
  allowRefresh(refreshToken: string, value: IssuedRefresh | 'given' = 'given'): void {
    if (this.#refreshTokens.get(refreshToken) === 'spent') return;
    this.#refreshTokens.set(refreshToken, value);
    this.#write({ kind: 'refresh', key: refreshToken, value });
  }

  /** What was issued with a refresh token, or that it is valid for whoever uses it; undefined if it is not valid. */
  refreshOf(refreshToken: string): IssuedRefresh | 'anybody' | undefined {
    const known = this.#refreshTokens.get(refreshToken);
    if (known === undefined || known === 'spent') return undefined;
    return known === true || known === 'given' ? 'anybody' : known;
  }

  /** Takes a refresh token for its one use; false if it is not valid. */
  takeRefresh(refreshToken: string): boolean {
    const before = this.#refreshTokens.get(refreshToken);
    if (before === undefined || before === 'spent') return false;
    this.#refreshTokens.delete(refreshToken);
    if (before === 'given') this.#refreshTokens.set(refreshToken, 'spent');
    this.#write({ kind: 'refresh', key: refreshToken, value: before === 'given' ? 'spent' : null });
    return true;
  }

  /** Issues a code for one use, which a person has allowed. */
  issueCode(code: string, issued: IssuedCode): void {
    this.#codes.set(code, issued);
  }

  /** Takes a code for its one use; undefined if it is not valid. */
  takeCode(code: string): IssuedCode | undefined {
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    return issued;
  }

  /** Forgets tokens whose time is over. */
  forgetExpired(now: number): void {
    for (const [token, { expires }] of this.#grants) if (expires !== undefined && expires <= now) this.revoke(token);
  }

  /** From now on the token answers 401. */
  revoke(token: string): void {
    if (this.#grants.delete(token)) this.#write({ kind: 'token', key: token, value: null });
  }

  /** What the caller's token grants at this time; undefined without a valid one. */
  of(authorization: string | undefined, now: number): Grant | undefined {
    const grant = this.#grants.get(/^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
    return grant?.expires !== undefined && grant.expires <= now ? undefined : grant;
  }
}

function grantOf({ scopes, accounts, expires }: TokenEntry): Grant {
  return { scopes: new Set(scopes), accounts: accounts && new Set(accounts), expires };
}

/** The answer to a request without a valid token, as captured. */
export function unauthenticated(area: Area): Reply {
  const payload =
    area === 'accounting'
      ? {
          error: 'unauthenticated',
          error_description: 'This action requires authentication to continue.',
        }
      : { errno: 401, message: 'invalid_token: The request token failed to authenticate or validate.' };
  return { status: 401, payload };
}

/** Refuses what the token's scopes do not allow. */
export function requireScope(grant: Grant, scope: string): void {
  if (grant.scopes.has(scope)) return;
  if (scope === vendorsRead) throw denied(31001, 'You do not have access to bill vendors.');
  if (scope === vendorsWrite) throw denied(1038, 'Write access denied.');
  throw denied(1003, `Access denied: the token lacks the scope ${scope}.`);
}

/** Refuses accounts that the token does not open. */
export function requireAccount(grant: Grant, account: string, known: boolean): void {
  if (known && (grant.accounts?.has(account) ?? true)) return;
  throw new Refusal({ status: 403, errno: 1003, message: 'Access denied.' });
}
