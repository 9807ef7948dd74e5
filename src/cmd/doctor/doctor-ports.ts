/** `doctor` on the ports: where no daemon runs, whether one could listen. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { exitStatus } from '../../domain/errors.ts';
import type { Settings } from '../../settings/parse.ts';
import { fine, problem, type Checkup } from './checkup.ts';

/** Both ports, bound for a moment each. */
export async function portCheckup({ listener, admin }: Settings): Promise<Checkup> {
  const check = 'ports';
  for (const [name, { host, port }] of Object.entries({ listener, admin })) {
    const code = await bindingFault(host, port);
    if (code !== undefined)
      return problem(check, {
        message: `The daemon could not listen on ${host}:${port} (${code}).`,
        hint: hintOf(code, name),
        exit: exitStatus.unavailable,
      });
  }
  return fine(check, `The daemon can listen on ${listener.port} and ${admin.port}.`);
}

function hintOf(code: string, name: string): string {
  if (code === 'EADDRINUSE')
    return `Another program uses this port: stop it, or choose another ${name}.port. \`ss -ltnp\` shows which program it is.`;
  if (code === 'EACCES') return `Choose a ${name}.port above 1023; a proxy may listen on 443 and forward to it.`;
  return `${name}.host is not an address of this machine: choose one that is, or 127.0.0.1.`;
}

async function bindingFault(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
