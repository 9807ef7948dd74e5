/** `npm run bench`: measures the rows that are asked for, one after the other, and prints what came out. */
import { parseArgs } from 'node:util';
import { bench } from './bench.ts';
import { ownProcesses } from './host.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    picture: { type: 'string' },
    vendors: { type: 'string', default: '100000' },
    'per-page': { type: 'string', default: '100' },
    samples: { type: 'string', default: '5' },
    deliveries: { type: 'string', default: '20000' },
    accounts: { type: 'string', default: '1000' },
  },
});

await bench({
  only: values.only ?? [],
  json: values.json,
  picture: values.picture,
  sizes: {
    host: ownProcesses,
    vendors: Number(values.vendors),
    perPage: Number(values['per-page']),
    samples: Number(values.samples),
    deliveries: Number(values.deliveries),
    accounts: Number(values.accounts),
  },
  print: (text) => process.stdout.write(text),
  remark: (text) => process.stderr.write(text),
});
