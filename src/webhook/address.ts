/** Callback addresses: `{publicUrl}/webhooks/{account_id}/{path token}`. */
import type { Secret } from '../domain/log.ts';

/** The common prefix of an account's callback addresses. */
export function addressPrefix(publicUrl: string, accountId: string): string {
  return `${publicUrl}/webhooks/${accountId}/`;
}

/** The address to register. It contains the path token, which is secret. */
export function callbackAddress(publicUrl: string, accountId: string, pathToken: Secret): string {
  return addressPrefix(publicUrl, accountId) + pathToken.reveal();
}

/** Whether this installation made the address, whatever its host: only it knows the path token. */
export function containsToken(uri: string, accountId: string, pathToken: Secret): boolean {
  return uri.endsWith(`/webhooks/${accountId}/${pathToken.reveal()}`);
}

/** The address without its path token, for display. */
export function withoutToken(uri: string): string {
  return uri.slice(0, uri.lastIndexOf('/') + 1);
}
