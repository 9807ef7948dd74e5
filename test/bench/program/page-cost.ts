/** What an open page costs the process that serves it, in processor time, while one vendor changes each second: with one tab, and with many. */
import { join } from 'node:path';
import { sleep, systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { mirrorOptions } from '../../../src/store/reader.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { fillYear } from '../setup/year-of-history.ts';
import { adminOf } from '../setup/admin-of.ts';
import { account, migrations } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { openTabs } from '../load/tabs.ts';

export interface PageCostParams {
  readonly folder: string;
  readonly vendors: number;
  readonly samples: number;
  readonly tabs: number;
  /** Seconds of one sample. */
  readonly seconds: number;
}

/** Milliseconds of processor time for each second in which the page changed, beyond those without a tab. */
export interface PageCostResult {
  readonly one: readonly number[];
  readonly many: readonly number[];
  /** The first page that the process ever makes. */
  readonly first: number;
}

export async function job({ folder, vendors, samples, tabs, seconds }: PageCostParams): Promise<JobResult> {
  const path = join(folder, 'vendors.db');
  await fillYear(path, migrations, vendors);
  const admin = await adminOf(path, [account]);
  const url = `http://127.0.0.1:${admin.port}/`;
  const database = await SqliteDatabase.open(
    mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom }),
  );

  const cost = async (open: number): Promise<number> => {
    const close = open === 0 ? undefined : await openTabs(url, open);
    const begun = process.cpuUsage();
    for (let second = 0; second < seconds; second += 1) {
      await database.write(() => database.sqlite.exec(changeOf(1 + ((second * 7) % vendors))));
      await sleep(systemClock, 1_000);
    }
    const used = milliseconds(process.cpuUsage(begun));
    close?.();
    return used / seconds;
  };

  const begun = process.cpuUsage();
  await (await fetch(url)).arrayBuffer();
  await sleep(systemClock, 3_000);
  const first = milliseconds(process.cpuUsage(begun));
  // Code that runs for the first time is compiled.
  await cost(tabs);
  await cost(0);
  const result = { one: [] as number[], many: [] as number[], first };
  for (let sample = 0; sample < samples; sample += 1) {
    const none = await cost(0);
    result.one.push(Math.max(0.01, (await cost(1)) - none));
    result.many.push(Math.max(0.01, (await cost(tabs)) - none));
  }
  await database.close();
  await admin.stop();
  return { result };
}

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}

/** A vendor's balance moves, as a reading would write it. */
function changeOf(vendorid: number): string {
  const now = `strftime('%Y-%m-%d %H:%M:%f', 'now')`;
  const whose = `account_id = '${account}' AND vendorid = ${vendorid}`;
  return `
    UPDATE _vendor_versions SET valid_to = ${now} WHERE ${whose} AND valid_to IS NULL;
    INSERT INTO _vendor_versions (account_id, vendorid, valid_from, vis_state, vis_state_source, presence, changed_fields, source)
      VALUES ('${account}', ${vendorid}, ${now}, 0, 'reported', 'present', '["outstanding_balance"]', 'delivery');
    UPDATE vendor_balances SET amount_minor = amount_minor + 100 WHERE ${whose} AND kind = 'outstanding';
    INSERT INTO _balance_spans (account_id, vendorid, code, valid_from, outstanding, outstanding_minor, outstanding_units, outstanding_amount,
        overdue, overdue_minor, overdue_units, overdue_amount, minor_digits, state)
      SELECT account_id, vendorid, code, ${now}, outstanding, outstanding_minor + 100, outstanding_units + 100, outstanding_amount + 1,
        overdue, overdue_minor, overdue_units, overdue_amount, minor_digits, state
      FROM _balance_spans WHERE ${whose} AND valid_to IS NULL;
    UPDATE _balance_spans SET valid_to = ${now} WHERE ${whose} AND valid_to IS NULL AND rowid <> last_insert_rowid();`;
}
