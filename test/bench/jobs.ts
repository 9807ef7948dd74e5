/** The jobs by their names. */
import { job as accounts } from './accounts.ts';
import { job as accountsStart } from './accounts-start.ts';
import { job as bareFetch } from './bare-fetch.ts';
import { job as bareListener } from './bare-listener.ts';
import { job as barePull } from './bare-pull.ts';
import { job as bareReader } from './bare-reader.ts';
import type { Job } from './job.ts';
import { job as listener } from './listener.ts';
import { job as naivePull } from './naive-pull.ts';
import { job as oldRows } from './old-rows.ts';
import { job as pages } from './pages.ts';
import { job as pull } from './pull.ts';
import { job as service } from './service.ts';

export const jobs = {
  accounts,
  'accounts-start': accountsStart,
  'bare-fetch': bareFetch,
  'bare-listener': bareListener,
  'bare-pull': barePull,
  'bare-reader': bareReader,
  listener,
  'naive-pull': naivePull,
  'old-rows': oldRows,
  pages,
  pull,
  service,
} as const satisfies Readonly<Record<string, Job>>;

export type JobName = keyof typeof jobs;
