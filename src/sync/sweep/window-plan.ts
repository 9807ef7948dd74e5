/** Chooses page number and size so that a window begins at or before a row and reaches as far as possible. */

export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

/** The window that begins at or before `row` and reaches farthest, with `cap` rows down to half of that. */
export function windowFrom(row: number, cap: number): PageRequest {
  let best: PageRequest = { page: 1, size: cap };
  for (let size = cap; size >= smallest(cap); size--) {
    const page = Math.floor(Math.max(0, row) / size) + 1;
    if (page * size > best.page * best.size) best = { page, size };
  }
  return best;
}

/** The window that begins at or before `row` and would show the end of a list of `total` rows, with at least half of it empty. */
export function windowOfEnd(row: number, total: number, cap: number): PageRequest | undefined {
  for (let size = cap; size >= smallest(cap); size--) {
    const page = Math.ceil(total / size);
    const begin = (page - 1) * size;
    if (page > 0 && begin <= row && total - begin <= size / 2) return { page, size };
  }
  return undefined;
}

/**
 * Windows from `row`, up to which the list is known, to the end of a list of `total` rows; each begins `overlap` rows before the end of the
 * previous one, or fewer where it must reach further.
 */
export function* windowsToEnd(
  { row, total, cap }: { row: number; total: number; cap: number },
  overlap: number,
): Generator<PageRequest> {
  for (let known = Math.min(row, total); ;) {
    const end = firstOf(overlap, (shared) => windowOfEnd(known - shared, total, cap));
    if (end) yield end;
    if (end) return;
    const next = firstOf(overlap, (shared) => {
      const requested = windowFrom(known - shared, cap);
      return requested.page * requested.size > known ? requested : undefined;
    });
    if (!next) return;
    yield next;
    known = next.page * next.size;
  }
}

function smallest(cap: number): number {
  return Math.max(1, Math.ceil(cap / 2));
}

/** The first result, trying from `overlap` shared rows down to one. */
function firstOf(overlap: number, find: (shared: number) => PageRequest | undefined): PageRequest | undefined {
  for (let shared = overlap; shared >= 1; shared--) {
    const found = find(shared);
    if (found !== undefined) return found;
  }
  return undefined;
}
