/**
 * npm run simulate -- [--seeds N] [--from S] [--jobs J] [--sabotage NAME] [--knobs "NAME=VALUE …"] [--trace]
 *
 * Exits with 1 where a promise was broken, or where too little was reached to say that none was; with a sabotage, where nothing was.
 */
import { parseArgs } from 'node:util';
import { launch } from './fleet.ts';
import { drawnFrom, planOf } from './plan.ts';
import { account } from './report.ts';
import { sabotages } from './sabotages.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    sabotage: { type: 'string' },
    knobs: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const knobs = values.knobs === undefined ? undefined : drawnFrom(values.knobs);

if (values.trace) {
  const { simulate } = await import('./simulate.ts');
  const { broken, hash } = await simulate(planOf(from, knobs), (line) => console.log(line));
  console.log(hash, broken);
} else {
  const sabotage = sabotages.find(({ name }) => name === values.sabotage);
  if (values.sabotage !== undefined && !sabotage)
    throw new Error(`The sabotages are: ${sabotages.map(({ name }) => name).join(', ')}.`);
  const fleet = launch(Number(values.jobs), sabotage);
  try {
    process.exitCode = (await account({ fleet, from, seeds: Number(values.seeds), knobs, sabotage })) ? 0 : 1;
  } finally {
    fleet.close();
  }
}
