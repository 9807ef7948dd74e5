/** The program itself, from start to exit: how long it takes, and how much memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inTurn, type Row, type Sizes } from './figures.ts';
import { withFolder } from '../setup/folder.ts';
import { program, settingsText } from '../setup/installation.ts';
import { withService } from './pulls.ts';

/** Samples of a start, which varies by what else the machine does; three where a single sample is enough. */
const starts = ({ samples }: Sizes): number => (samples === 1 ? 3 : 9);

const mostMemory = 180;

export const programRows: readonly Row[] = [
  {
    name: 'memory',
    work: 'memory of a first pull of ten times as many vendors',
    baseline: 'of as many vendors',
    goal: { atMost: 1.15 },
    async measure(sizes) {
      const { vendors } = sizes;
      const taken = await inTurn(
        1,
        () => peak({ ...sizes, vendors: vendors * 10 }),
        () => peak(sizes),
      );
      const [most = Infinity] = taken.ours;
      return {
        unit: 'MB',
        ...taken,
        also: [{ what: `${most.toFixed(0)} MB`, goal: `under ${mostMemory}`, met: most < mostMemory }],
      };
    },
  },
  {
    name: 'status',
    work: '`status`, from start to exit',
    baseline: '`node -e 0`',
    goal: { atMost: 3 },
    measure: (sizes) =>
      withService({ ...sizes, vendors: 2_000 }, ({ result }) =>
        withFolder(async (folder) => {
          const settings = writeSettings(result.baseUrl, folder, sizes);
          await run([program, 'sync', '-c', settings]);
          return startTimes(sizes, [program, 'status', '-c', settings]);
        }),
      ),
  },
  {
    name: 'help',
    work: '`--help`, from start to exit',
    baseline: '`node -e 0`',
    goal: { atMost: 1.3 },
    measure: (sizes) => startTimes(sizes, [program, '--help']),
  },
];

async function startTimes(sizes: Sizes, args: readonly string[]): ReturnType<Row['measure']> {
  return {
    unit: 'ms',
    ...(await inTurn(
      starts(sizes),
      () => took(args),
      () => took(['-e', '0']),
    )),
  };
}

/** How long node takes to run to its end, in milliseconds. */
async function took(args: readonly string[]): Promise<number> {
  const begun = performance.now();
  await run(args);
  return performance.now() - begun;
}

/** The most memory that `sync` had at any time, in MB. */
function peak(sizes: Sizes): Promise<number> {
  return withService(sizes, ({ result }) =>
    withFolder(async (folder) => {
      const tell = 'process.on("exit", () => console.error("\\npeak " + process.resourceUsage().maxRSS))';
      const settings = writeSettings(result.baseUrl, folder, sizes);
      const said = await run(['--import', `data:text/javascript,${tell}`, program, 'sync', '-c', settings]);
      return Number(/^peak (\d+)$/m.exec(said)?.[1]) / 1_024;
    }),
  );
}

function writeSettings(baseUrl: string, folder: string, { perPage }: Sizes): string {
  const path = join(folder, 'mirror.yaml');
  writeFileSync(path, settingsText({ baseUrl, folder, perPage }));
  return path;
}

/** Runs node to its end. @returns what it said on standard error. @throws Error where it fails. */
async function run(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} failed:\n${said}`);
  return said;
}
