/**
 * The baseline of accepting deliveries: bare node:http, the same check of the signature, and one durable commit for all that
 * arrived in a turn of the event loop, with the same rows.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { parseForm, isSigned } from '../../../src/webhook/delivery.ts';
import { bareMirror } from './bare-mirror.ts';
import type { Place } from '../setup/installation.ts';
import { verifier, type ListenerResult } from '../load/delivery-load.ts';
import type { JobResult } from '../setup/job.ts';
import { closed, listening } from '../setup/sockets.ts';

type Form = ReadonlyMap<string, string>;

export async function job({ folder }: Place): Promise<JobResult> {
  const sqlite = bareMirror(folder);
  const write = deliveryWriter(sqlite);
  const verifiers = [new Secret(verifier)];
  let waiting: { readonly form: Form; readonly response: ServerResponse }[] = [];
  const commit = (): void => {
    const group = waiting;
    waiting = [];
    write(group.map(({ form }) => form));
    for (const { response } of group) response.writeHead(200, { 'content-length': 0 }).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const pairs = parseForm(Buffer.concat(chunks)) ?? [];
      const signature = request.headers['x-service-hmac-sha256'];
      if (typeof signature !== 'string' || !isSigned(pairs, signature, verifiers)) {
        response.writeHead(401).end();
        return;
      }
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ form: new Map(pairs), response });
    });
  });
  const result: ListenerResult = { port: await listening(server), path: '/' };
  const stop = async (): Promise<void> => {
    await closed(server);
    sqlite.close();
  };
  return { result, answer: () => Promise.resolve(), stop };
}

function deliveryWriter(sqlite: Sqlite): (forms: readonly Form[]) => void {
  const deliver = sqlite.prepare(
    "INSERT INTO deliveries (account_id, received_at, name, object_id, business_id, identity_id, user_id, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending')",
  );
  const generation = sqlite
    .prepare<[], number>('UPDATE _reading_counter SET generation = generation + 1 RETURNING generation')
    .pluck();
  const mark = sqlite.prepare(
    "INSERT INTO dirty_vendors (account_id, vendorid, generation, marked_at, due_at, due_ms, reason) VALUES (?, ?, ?, ?, ?, ?, 'delivery') ON CONFLICT (account_id, vendorid) DO UPDATE SET generation = excluded.generation",
  );
  const all = sqlite.transaction((forms: readonly Form[]) => {
    const ms = Date.now();
    const at = new Date(ms).toISOString().replace('T', ' ').slice(0, 23);
    for (const form of forms) {
      const number = (name: string): number => Number(form.get(name));
      const [account, vendorid] = [form.get('account_id'), number('object_id')];
      const people = [number('business_id'), number('identity_id'), number('user_id')];
      deliver.run(account, at, form.get('name'), vendorid, ...people);
      mark.run(account, vendorid, generation.get(), at, at, ms);
    }
  });
  return (forms) => all.immediate(forms);
}
