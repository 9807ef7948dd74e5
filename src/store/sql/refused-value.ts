import { MirrorError } from '../../domain/errors.ts';

/** A column did not take a value: where it came with a record, the record cannot be stored, and all others can. */
export class RefusedValue extends MirrorError {}
