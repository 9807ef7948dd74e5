/** A daemon that is killed while it writes rows to a PostgreSQL, and changes go on. */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { changeSomething } from '../../src/sandbox/account/churn.ts';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import { isMissing } from '../support/needed.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresProxy, postgresServer } from '../support/postgres.ts';
import { ended } from '../support/testbed/program.ts';
import { asked } from '../support/test-size.ts';
import { testbed } from '../support/testbed.ts';
import { mirrorIdOf, rowsHere, rowsThere } from './rows.ts';

const server = postgresServer();
const kills = asked('KILLS', 10, 4);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

/** The first statements of a daemon are those that find out what is there; so many come with every start. */
const certain = 18;

describe.skipIf(isMissing(missingPostgres))('rows in PostgreSQL', () => {
  it(
    `are those of the mirror, with each change once, after the daemon was killed ${kills} times`,
    async () => {
      const to = await server.database();
      const proxy = await postgresProxy(to);
      const sandbox = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 800, seed: 'sink' });
      const settings = `sync: { lag: 0s }\npublish: [{ to: "${proxy.address}", schema: vendors }]`;
      const at = await testbed({ level: 'program', service: sandbox, settings });
      const vendors = sandbox.sandbox.vendors(sandbox.account);
      const random = seededRandom(seedOf(seed, 'sink'));
      expect((await ended(at.start('sync'))).status).toBe(0);
      for (let nth = 0; nth < kills; nth += 1) {
        for (let change = 0; change < 5; change += 1) changeSomething(vendors, random);
        proxy.cut(Infinity, 'before');
        const daemon = at.start('serve');
        const exited = once(daemon, 'exit');
        const sync = ended(at.start('sync'));
        const statement = random.below(certain);
        await Promise.race([proxy.sent(statement + 1), exited]);
        expect(daemon.exitCode, `seed ${seed}, kill ${nth}`).toBeNull();
        daemon.kill('SIGKILL');
        await exited;
        await sync;
      }
      const last = await at.serve();
      for (;;) {
        const { answers } = proxy;
        const there = await rowsThere(to, 'vendors', mirrorIdOf(at));
        if (JSON.stringify(there) === JSON.stringify(rowsHere(at))) break;
        await proxy.answered(answers + 1);
      }
      expect(await askPostgres(to, 'SELECT snapshot FROM vendors.mirrors')).toEqual([{ snapshot: null }]);
      await last.end();
    },
    60_000 + kills * 10_000,
  );
});
