import { MirrorError } from '../../src/domain/errors.ts';

/** The error with which the work fails. @throws whatever else it threw, and an Error where it did not fail. */
export async function failureOf(work: Promise<unknown>): Promise<MirrorError> {
  const error: unknown = await work.then(
    () => new Error('It was expected to fail.'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof MirrorError) return error;
  throw error;
}
