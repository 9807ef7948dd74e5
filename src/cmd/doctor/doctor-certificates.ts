/** `doctor` on certificates: one that is about to expire stops everything on a day that can be known. */
import { timestamp } from '../../domain/clock.ts';
import { inWords } from '../../domain/duration.ts';
import { fine, warning, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';

/** How long before its end a certificate should be renewed by now, in milliseconds: those that renew themselves do so 30 days before. */
const renewalTime = 21 * 86_400_000;

/** The certificate of an https address that was reached; undefined where it has none, or cannot be seen, as through a proxy. */
export async function certificateCheckup(
  check: string,
  { proxyOf, certificateEnd, clock }: ProcessContext,
  address: string,
): Promise<Checkup | undefined> {
  const url = new URL(address);
  const end = (await proxyOf(url)) ? undefined : await certificateEnd(url);
  if (end === undefined) return undefined;
  const day = timestamp(end).slice(0, 10);
  const left = end - clock.now();
  const message = `The certificate of ${url.host} is valid until ${day}`;
  return left > renewalTime
    ? fine(check, `${message}.`)
    : warning(
        check,
        `${message}: ${inWords(Math.max(left, 0))} from now.`,
        'Renew it, and check what should renew it automatically.',
      );
}
