/** `npm run simulate`: exits with 1 where a promise was broken or too little was reached, and with a planted fault, if no seed found it. */
import { Command, Option } from 'commander';
import { wholeFrom } from '../../src/cmd/options.ts';
import { startSeedProcesses } from './runs/seed-processes.ts';
import { drawnBy, drawnFrom, planOf } from './plan/plan.ts';
import { account } from './runs/report.ts';
import { plantedFaults } from './plan/planted-faults.ts';

const {
  seeds,
  from,
  jobs,
  knobs,
  trace = false,
  postgres,
  ...asked
} = new Command('npm run simulate --')
  .description('Runs the program in worlds that seeds draw, and holds its promises against what is true there.')
  .option('--seeds <count>', 'how many', wholeFrom(1), 1)
  .option('--from <seed>', 'the first of them', wholeFrom(1), 1)
  .option('--jobs <count>', 'how many processes', wholeFrom(1), 2)
  .addOption(
    new Option('--fault <name>', 'a fault to plant: ends with the seed that finds it').choices(
      plantedFaults.map(({ name }) => name),
    ),
  )
  .option('--knobs <words>', 'NAME=VALUE …: everything else is plain, and no seed draws its own', drawnFrom)
  .option(
    '--postgres <address>',
    'a server that keeps the mirrors, as somebody who may make schemas there; by default, they are files',
  )
  .option('--trace', 'one seed, told line by line')
  .parse()
  .opts<{
    seeds: number;
    from: number;
    jobs: number;
    fault?: string;
    knobs?: ReturnType<typeof drawnFrom>;
    trace?: boolean;
    postgres?: string;
  }>();

if (trace) {
  const { simulate } = await import('./runs/simulate.ts');
  const plan = planOf(from, knobs ?? drawnBy(from, postgres !== undefined));
  const { broken, hash } = await simulate(plan, { listen: (line) => console.log(line), postgres });
  console.log(hash, broken);
} else {
  const fault = plantedFaults.find(({ name }) => name === asked.fault);
  const processes = startSeedProcesses(jobs);
  try {
    process.exitCode = (await account({ processes, from, seeds, knobs, fault, postgres })) ? 0 : 1;
  } finally {
    processes.close();
  }
}
