/** Types of columns in typed formats, and conversion of values. */
import { parseInstant, timestamp } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { ColumnKind } from './export-job.ts';
import type { Cell } from './export-rows.ts';

const declared: Readonly<Record<string, ColumnKind>> = {
  INTEGER: 'integer',
  REAL: 'real',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'time',
  TEXT: 'text',
};

/** The kind of a declared type; undefined for a column that a query computes. */
export function kindOf(type: string | null): ColumnKind | undefined {
  return type === null ? undefined : declared[type.toUpperCase()];
}

/** The kind that holds all of these values; text where there is none. */
export function kindOfValues(values: readonly Cell[]): ColumnKind {
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || known.some((value) => typeof value === 'string')) return 'text';
  return known.every((value) => typeof value === 'bigint') ? 'integer' : 'real';
}

/** A column whose kind is known by now. */
export interface KnownColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A converted value: times are microseconds since 1970. */
export type TypedCell = string | number | bigint | boolean | null;

type Typing = (value: Exclude<Cell, null>) => TypedCell | undefined;

/** Each is undefined for a value that the kind cannot hold. */
const typings: Readonly<Record<ColumnKind, Typing>> = {
  integer: (value) => (typeof value === 'bigint' ? value : undefined),
  real(value) {
    if (typeof value === 'number') return value;
    return typeof value === 'bigint' && BigInt(Number(value)) === value ? Number(value) : undefined;
  },
  boolean: (value) => (value === 0n || value === 1n ? value === 1n : undefined),
  time: (value) => (typeof value === 'string' ? microseconds(value) : undefined),
  text: String,
};

/**
 * Converts a value to the type of its column.
 * @returns undefined for a text in a time column that is not a time, because the service's times are stored as it sent them.
 * @throws MirrorError `usage` where the value has another type than its column, which a query can cause.
 */
export function typed(value: Cell, { name, kind }: KnownColumn): TypedCell | undefined {
  if (value === null) return null;
  const cell = typings[kind](value);
  if (cell === undefined && !(kind === 'time' && typeof value === 'string'))
    throw new MirrorError(
      'usage',
      `The column ${name} has values of several types: ${kindNames[kind]}, and ${String(value)}. Convert them in the query with CAST(… AS TEXT).`,
    );
  return cell;
}

const kindNames: Readonly<Record<ColumnKind, string>> = {
  integer: 'whole numbers',
  real: 'numbers',
  boolean: 'truth values',
  time: 'times',
  text: 'texts',
};

/** A date and a time; the parser would also accept texts that are not times. */
const moment = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}/;
const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/;

function microseconds(text: string): bigint | undefined {
  const ms = moment.test(text) ? parseInstant(text) : undefined;
  if (ms === undefined) return undefined;
  // The parser takes 30 February for a day in March.
  if (!hasZone.test(text) && timestamp(ms).slice(0, 16) !== text.slice(0, 16).replace('T', ' ')) return undefined;
  return BigInt(ms) * 1_000n;
}
