/** What Python's json.dumps made of 250 sets of parameters (test/fixtures/python-json-dumps.py). */
import { readFileSync } from 'node:fs';

export interface PythonCase {
  readonly body: string;
  readonly pairs: [string, string][];
  readonly ascii: string;
  readonly utf8: string;
  readonly sorted: string;
}

export const pythonCases = JSON.parse(
  readFileSync(new URL('../../fixtures/python-json-dumps.json', import.meta.url), 'utf8'),
) as PythonCase[];
