/** The daemons that serve one mirror, in words, and what is missing among them. */
import type { ServingProcess } from '../domain/processes.ts';

/** One of them, such as “books-1 works and listens (0.2.0, since 2026-12-01 10:00:00 UTC)”. */
export function daemonWords({ host, version, since, works, listens, may_work }: ServingProcess): string {
  const does = works
    ? listens
      ? 'works and listens'
      : 'works'
    : listens
      ? may_work
        ? 'listens, and works when no other does'
        : 'listens'
      : 'waits to work when no other does';
  return `${host} ${does} (${version}, since ${since.slice(0, 19)} UTC)`;
}

/** Whether there are daemons, and none of them works, or would. */
export function nobodyWorks(serving: readonly ServingProcess[]): boolean {
  return serving.length > 0 && !serving.some(({ works, may_work }) => works || may_work);
}

/** Whether there are daemons, and none takes deliveries. */
export function nobodyListens(serving: readonly ServingProcess[]): boolean {
  return serving.length > 0 && !serving.some(({ listens }) => listens);
}
