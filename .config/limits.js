/** `npm run limits`: writes the table of limits and delays into `config/README.md`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { limitsTable } from '../test/support/limits-table.ts';

const document = new URL('../config/README.md', import.meta.url);
const text = readFileSync(document, 'utf8');
writeFileSync(document, text.replace(/(?<=\n## Limits and delays\n[^|]*)\|[^]*\|(?=\n)/, limitsTable()));
