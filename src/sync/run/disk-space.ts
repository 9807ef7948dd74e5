/** Room on the disk that sweeps leave for deliveries. */
import { MirrorError } from '../../domain/errors.ts';
import { spaceForDeliveries } from '../../store/sqlite/file-systems.ts';
import type { Store } from '../../store/store.ts';

/** Unattended runs stop when the disk is low, so that deliveries can still be stored. @throws MirrorError `disk_full`. */
export function assertSpace(mirror: Pick<Store, 'freeBytes' | 'path'>): void {
  const free = mirror.freeBytes();
  if (free >= spaceForDeliveries) return;
  const megabytes = (free / 1024 ** 2).toFixed(1);
  throw new MirrorError(
    'disk_full',
    `Only ${megabytes} MB are free beside ${mirror.path}: they are left for deliveries, and sweeps wait.`,
  );
}
