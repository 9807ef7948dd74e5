/** The process of one job: runs it, reports its result, answers questions, and ends with its parent. */
import type { Job } from '../setup/job.ts';
import { jobs, type JobName } from './jobs.ts';

const [name = '', params = '{}'] = process.argv.slice(2);
const job: Job = jobs[name as JobName];
const { result, answer } = await job(JSON.parse(params) as never);
process.on('message', (question) => {
  void answer?.(question as never).then((said) => process.send?.({ answer: said }));
});
process.on('disconnect', () => process.exit());
process.send?.({ result });
