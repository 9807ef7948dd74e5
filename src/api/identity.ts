/** Which accounts a token sees: what a person needs to know before anything can be mirrored. */
import type { Secret } from '../domain/secret.ts';
import { exchange, type ExchangeDependencies } from './http/request.ts';
import { list, member, parseDocument, refusal, text } from './wire/document.ts';

export interface SeenAccount {
  readonly account: string;
  /** The name of its business; null where it is not told. */
  readonly business: string | null;
}

/**
 * The accounts of the person behind a token: those of their businesses, then those in which they have a role. Either may be null or left out.
 * @throws MirrorError as any request; `access_denied` without the scope `user:profile:read`.
 */
export async function accountsSeen(
  baseUrl: string,
  token: Secret,
  dependencies: ExchangeDependencies,
): Promise<SeenAccount[]> {
  const answer = await exchange(
    {
      url: new URL(`${baseUrl.replace(/\/+$/, '')}/auth/api/v1/users/me`),
      method: 'GET',
      headers: { authorization: `Bearer ${token.reveal()}`, accept: 'application/json' },
    },
    dependencies,
  );
  const document = answer.status < 300 ? parseDocument(answer.bytes) : parsedOrNone(answer.bytes);
  const refused = refusal(answer.status, document);
  if (refused) throw refused;
  return accountsIn(document);
}

/** A refusal may have any body. */
function parsedOrNone(bytes: Uint8Array): unknown {
  try {
    return parseDocument(bytes);
  } catch {
    return undefined;
  }
}

function accountsIn(document: unknown): SeenAccount[] {
  const person = member(document, 'response') ?? document;
  const named = (name: string): readonly unknown[] => list(member(person, name)) ?? [];
  const businesses = [...named('business_memberships'), ...named('business_clients')].map((membership) => {
    const business = member(membership, 'business');
    return {
      account: member(business, 'account_id') ?? member(membership, 'account_id'),
      business: member(business, 'name') ?? member(membership, 'name'),
    };
  });
  const roles = named('roles').map((role) => ({
    account: member(role, 'accountid') ?? member(role, 'account_id'),
    business: null,
  }));
  const seen = new Map<string, SeenAccount>();
  for (const { account, business } of [...businesses, ...roles]) {
    const id = text(account);
    if (id && !seen.has(id)) seen.set(id, { account: id, business: text(business) || null });
  }
  return [...seen.values()];
}
