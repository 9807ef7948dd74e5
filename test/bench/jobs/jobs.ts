/** The jobs by their names. */
import { job as accountsPull } from '../program/accounts-pull.ts';
import { job as accountsStart } from '../program/accounts-start.ts';
import { job as bareFetch } from '../baselines/bare-fetch.ts';
import { job as bareListener } from '../baselines/bare-listener.ts';
import { job as barePull } from '../baselines/bare-pull.ts';
import { job as bareReader } from '../baselines/bare-reader.ts';
import type { Job } from '../setup/job.ts';
import { job as listener } from '../program/listener.ts';
import { job as naiveListener } from '../baselines/naive-listener.ts';
import { job as naivePull } from '../baselines/naive-pull.ts';
import { job as pageCost } from '../program/page-cost.ts';
import { job as pages } from '../program/pages.ts';
import { job as pull } from '../program/pull.ts';
import { job as sandbox } from '../load/sandbox.ts';
import { job as service } from '../load/service.ts';

export const jobs = {
  'accounts-pull': accountsPull,
  'accounts-start': accountsStart,
  'bare-fetch': bareFetch,
  'bare-listener': bareListener,
  'bare-pull': barePull,
  'bare-reader': bareReader,
  listener,
  'naive-listener': naiveListener,
  'naive-pull': naivePull,
  'page-cost': pageCost,
  pages,
  pull,
  sandbox,
  service,
} as const satisfies Readonly<Record<string, Job>>;

export type JobName = keyof typeof jobs;
