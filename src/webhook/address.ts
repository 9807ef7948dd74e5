/** The address at which the service reaches us: `{publicUrl}/webhooks/{account_id}/{path token}`. */
import type { Secret } from '../domain/log.ts';

/** What all callback addresses of an account begin with. */
export function addressPrefix(publicUrl: string, accountId: string): string {
  return `${publicUrl}/webhooks/${accountId}/`;
}

/** The address to register. It holds a secret. */
export function callbackAddress(publicUrl: string, accountId: string, pathToken: Secret): string {
  return addressPrefix(publicUrl, accountId) + pathToken.reveal();
}

/** Whether an address, wherever it leads, is one that this installation made: only it knows the path token. */
export function holdsToken(uri: string, accountId: string, pathToken: Secret): boolean {
  return uri.endsWith(`/webhooks/${accountId}/${pathToken.reveal()}`);
}

/** An address as people may see it. */
export function withoutToken(uri: string): string {
  return uri.slice(0, uri.lastIndexOf('/') + 1);
}
