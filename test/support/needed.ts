/**
 * Whether something that a test needs is missing on this machine, so that the test is skipped; `what` says why, and is undefined where all is there.
 * @throws Error in CI (`CI` in the environment): what is skipped there would be taken for proven.
 */
export function isMissing(what: string | undefined): boolean {
  if (what !== undefined && process.env['CI']) throw new Error(`In CI no test may be skipped: ${what}.`);
  return what !== undefined;
}
