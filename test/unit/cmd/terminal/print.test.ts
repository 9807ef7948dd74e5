import { describe, expect, it } from 'vitest';
import { printText } from '../../../../src/cmd/terminal/print.ts';
import { collector } from '../../../support/testbed/command.ts';

describe('printText', () => {
  it('breaks sentences between words on a terminal, and nowhere else', () => {
    const sentence = 'The account 6BApk can be read.';
    const [narrow, file] = [collector(20), collector()];
    for (const { stream } of [narrow, file]) printText({ stdout: stream }, sentence);
    expect([narrow.text(), file.text()]).toEqual(['The account 6BApk\ncan be read.\n', `${sentence}\n`]);
  });
});
