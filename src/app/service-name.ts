/** The name by which a mirror knows its service. */
import { MirrorError } from '../domain/errors.ts';
import type { Store } from '../store/store.ts';

/** The address of a service, in one spelling. */
export function serviceNameOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, '');
}

/** A sandbox is known by the name of its world, whatever its port. */
export function sandboxName(id: string): string {
  return `sandbox ${id}`;
}

/** @throws MirrorError `other_service`. */
export function refuseOtherService(known: string | null, name: string, { path }: Store): void {
  if (known !== null && known !== name)
    throw new MirrorError('other_service', `${path} mirrors ${known}, but the settings name ${name}.`);
}
