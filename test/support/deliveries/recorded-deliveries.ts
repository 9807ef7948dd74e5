/** Genuine deliveries of the service, recorded on their way, and a way to send anything at all to the listener. */
import { request } from 'node:http';
import { account, liveTestbed, publicUrl, type Testbed, type TestbedOptions } from '../testbed/daemon-testbed.ts';

export interface Letter {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A running daemon at rest, and an event that the service has told it. */
export async function recordingTestbed(options: TestbedOptions = {}): Promise<{ at: Testbed; letter: Letter }> {
  const letters: Letter[] = [];
  const at = await liveTestbed({
    ...options,
    post:
      (post) =>
      (uri, headers, body, ...rest) => {
        letters.push({ path: uri.slice(publicUrl.length), headers, body });
        return post(uri, headers, body, ...rest);
      },
  });
  letters.length = 0;
  at.sandbox.vendors(account).edit(someVendor(at), { city: 'Oslo' });
  await at.clock.until('it was told', () => at.query('SELECT 1 FROM deliveries').length > 0);
  await at.clock.pass(60_000);
  await at.untilQuiet();
  at.requests.length = 0;
  return { at, letter: letters[0]! };
}

/** The number of a vendor, always the same one. */
export function someVendor({ sandbox }: Testbed): number {
  return Number(sandbox.vendors(account).all()[7]?.['vendorid']);
}

/** Sends a request to the listener. @returns the status of the answer. */
export function knock({ clock, daemon }: Testbed, { path, headers, body }: Letter): Promise<number> {
  return clock.busy(
    new Promise((resolve, reject) => {
      const sent = request(daemon.addresses.listener + path, {
        method: 'POST',
        headers: { 'content-length': Buffer.byteLength(body), ...headers },
      });
      sent.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(body);
    }),
  );
}
