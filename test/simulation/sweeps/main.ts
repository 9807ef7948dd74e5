/**
 * `npm run sweeps`: sweeps scripted lists, and exits with 1 where a sweep that calls itself complete missed a vendor that stood still.
 * `deceived` counts sweeps that missed one because the service counted exactly as many as they showed, although it lists more.
 *
 * `--random N`: as many seeds, each of which draws a world and up to five changes; as many as in each run of the tests, where `--every` is not
 * given. `--every N`: for as many worlds, every script of up to three changes. `--fault NAME`: with a planted fault, which must be found.
 */
import { parseArgs } from 'node:util';
import { loadWith } from '../../support/source/planted-fault.ts';
import { list, plantedFaults } from './planted.ts';
import * as plain from './sweeps.ts';

const { values } = parseArgs({
  options: {
    random: { type: 'string' },
    every: { type: 'string' },
    changes: { type: 'string', default: '3' },
    from: { type: 'string', default: '1' },
    fault: { type: 'string' },
  },
});

const every = Number(values.every ?? 0);
const random = Number(values.random ?? (values.every === undefined ? 12_000 : 0));

const fault = plantedFaults.find(({ name }) => name === values.fault);
if (values.fault !== undefined && !fault) throw new Error(`There is no planted fault “${values.fault}”.`);
const { everyScript, scriptOf, swept, worldOf } = fault
  ? await loadWith<typeof plain>(new URL('sweeps.ts', import.meta.url), fault, list)
  : plain;

const ends = { plain: 0, windows: 0, passes: 0, incomplete: 0 };
/** Lists that moved, stand in an order that is known, fill several pages and honour their size: those that windows are for. */
const moving = { ...ends };
let sweeps = 0;
let lost = 0;
let deceived = 0;
/** Complete sweeps by what the service says of its list. */
const reach: Record<string, number> = {};

async function run(
  world: ReturnType<typeof worldOf>,
  script: ReturnType<typeof scriptOf>,
  seed: number,
): Promise<void> {
  const { proof = 'incomplete', lost: missed, moved, isDeceived } = await swept(world, script, seed);
  sweeps += 1;
  ends[proof] += 1;
  const isKnown = world.order !== 'name' && world.order !== 'shuffled';
  if (proof !== 'incomplete')
    for (const axis of ['counts', 'pageCount', 'firstPage', 'pastEnd', 'hidesPage'] as const) {
      const value = `${axis}=${world[axis]}`;
      reach[value] = (reach[value] ?? 0) + 1;
    }
  const isCounted =
    world.counts === 'right' &&
    world.pageCount === 'counted' &&
    world.firstPage === 1 &&
    !world.pageIgnored &&
    !world.hidesPage;
  if (moved && isKnown && isCounted && world.sizeHonoured && world.vendors > world.cap + 1) moving[proof] += 1;
  if (isDeceived) deceived += 1;
  if (missed.length === 0 || isDeceived) return;
  lost += 1;
  if (lost <= 5) console.log(`seed ${seed}: ${proof} without ${missed.join()}: ${JSON.stringify({ world, script })}`);
}

const from = Number(values.from);
for (let seed = from; seed < from + random && !(fault && lost > 0); seed++)
  await run(worldOf(seed), scriptOf(seed, seed % 6), seed);
for (let seed = from; seed < from + every && !(fault && lost > 0); seed++) {
  const world = worldOf(seed);
  const requests = Math.ceil(world.vendors / world.cap) + 3;
  for (const script of everyScript(Number(values.changes), world.vendors, requests)) await run(world, script, seed);
}

const unproven = moving.windows + moving.passes + moving.incomplete;
const share = unproven === 0 ? 0 : moving.windows / unproven;
console.log(JSON.stringify({ sweeps, lost, deceived, ends, reach, moving, windowsShare: Number(share.toFixed(3)) }));
process.exitCode = (fault ? lost > 0 : lost === 0) ? 0 : 1;
