/** Room on the disk that sweeps leave for deliveries. */
import { MirrorError } from '../../domain/errors.ts';
import type { Mirror } from '../../store/mirror.ts';
import { spaceForDeliveries } from '../../store/sqlite/file-systems.ts';

/** Unattended runs stop when the disk is low, so that deliveries can still be stored. @throws MirrorError `disk_full`. */
export function assertSpace(mirror: Pick<Mirror, 'freeBytes' | 'path'>): void {
  const free = mirror.freeBytes();
  if (free >= spaceForDeliveries) return;
  const megabytes = (free / 1024 ** 2).toFixed(1);
  throw new MirrorError(
    'disk_full',
    `Only ${megabytes} MB are free beside ${mirror.path}: they are left for deliveries, and sweeps wait.`,
  );
}
