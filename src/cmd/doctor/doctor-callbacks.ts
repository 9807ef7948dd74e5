/** `doctor` on the callbacks of an account: whether one of ours is verified, leads here, and is understood. */
import type { Installation, ServedAccount } from '../../app/installation.ts';
import type { Callback } from '../../domain/vendor.ts';
import { addressPrefix } from '../../webhook/address.ts';
import { counted } from '../terminal/counted.ts';
import { isOwn } from '../setup/registered-callback.ts';
import { fine, warning, type Checkup } from './checkup.ts';

const check = 'callbacks';

export async function callbackCheckup(
  installation: Installation,
  { accountId, client }: ServedAccount,
  signal: AbortSignal,
): Promise<Checkup> {
  const listed = await client.callbacks.list({}, { signal });
  const own = listed.filter(await isOwn(installation, accountId));
  const { publicUrl } = installation.settings.listener;
  if (publicUrl === null) return fine(check, `The token can read ${counted(listed.length, 'callback')}.`);
  const [refusal] = await installation.mirror.callbacks.refusals(accountId);
  if (refusal)
    return warning(
      check,
      `${refusal.event} could not be registered: ${refusal.message}`,
      'Give the token the scope of that event, or remove it from listener.events; a running daemon tries again with each reconciliation.',
    );
  const here = own.filter(({ uri }) => uri.startsWith(addressPrefix(publicUrl, accountId)));
  if (here.some(({ verified }) => verified)) return fine(check, 'The callback of this installation is verified.');
  const [unverified] = here;
  if (unverified) return await notVerified(installation, accountId, unverified);
  const [elsewhere] = own;
  if (elsewhere)
    return warning(
      check,
      `Our callback ${elsewhere.callbackid} leads to ${originOf(elsewhere.uri)}, and listener.publicUrl is ${publicUrl}.`,
      'If the new address is right, `vendor-mirror serve` registers it and removes the old one by itself; otherwise correct listener.publicUrl.',
    );
  return warning(
    check,
    'No callback of this installation is registered.',
    '`vendor-mirror serve` registers and verifies it automatically.',
  );
}

async function notVerified({ secrets }: Installation, id: string, { callbackid }: Callback): Promise<Checkup> {
  const resend = `\`vendor-mirror callbacks resend ${callbackid} --account ${id}\``;
  const codes = await secrets.verifiers.candidates(id, callbackid);
  if (codes.length > 0)
    return warning(
      check,
      `Our callback ${callbackid} is not verified: a code came for it, and the service has not accepted it yet.`,
      `A running daemon sends it back by itself. If this lasts, ${resend} asks for a code; the same one again is taken too.`,
    );
  return warning(
    check,
    `Our callback ${callbackid} is not verified: no code of the service has arrived for it.`,
    `The service must be able to send a POST to listener.publicUrl: see "public address" below. Then ${resend}, while the daemon runs.`,
  );
}

/** The rest of the address holds a secret. */
function originOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).origin : 'an address that cannot be read';
}

/** Says where deliveries name what they are about in a way that costs a sweep each. */
export async function callbackIdCheckup({ mirror }: Installation, accountId: string): Promise<Checkup | undefined> {
  const named = await mirror.sweepRequests.callbackIds(accountId);
  return (
    named &&
    warning(
      'deliveries',
      `The object_id of ${named.deliveries} deliveries was the id of one of our callbacks, the last at ${named.last} UTC: their changes are found by a sweep, not at once.`,
      'Nothing to do: such deliveries request a sweep, at most one a minute. If the service sends the id of the callback instead of the id of the vendor, ask it to send that.',
    )
  );
}
