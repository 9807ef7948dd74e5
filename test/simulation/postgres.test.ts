/** Simulated worlds whose mirror is on a PostgreSQL, with what goes wrong there. WORLDS says how many, SEED from which on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { missingPostgres, startServer, type StartedServer } from '../support/postgres-server.ts';
import { asked } from '../support/test-size.ts';
import { outcomes, startSeedProcesses, type SeedProcesses } from './runs/seed-processes.ts';

const worlds = asked('WORLDS', 1);
const from = asked('SEED', 12);

describe.skipIf(isMissing(missingPostgres))('simulated worlds on a server', () => {
  let server: StartedServer;
  let processes: SeedProcesses;
  beforeAll(async () => {
    server = await startServer();
    processes = startSeedProcesses(1);
  });
  afterAll(async () => {
    processes.close();
    await server.stop();
  });

  it('break no promise', { timeout: 180_000 + worlds * 300_000 }, async () => {
    const tasks = Array.from({ length: worlds }, (_, nth) => ({ seed: from + nth, postgres: server.address }));
    const told = await outcomes(processes, tasks);
    expect(told.flatMap(({ seed, broken }) => broken.map((what) => `seed ${seed}: ${what}`))).toEqual([]);
  });
});
