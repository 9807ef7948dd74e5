import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LiveBlock } from '../../../src/cmd/live-summary.ts';
import { screenOf } from '../../support/screen/screen.ts';

function terminal(columns = 20, rows = 10) {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  const written: string[] = [];
  stream.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  return { stream, written, block: new LiveBlock(stream), screen: () => screenOf(written.join('')) };
}

describe('a live block', () => {
  it('stays in place however often it is drawn, each time in one write, and is not drawn if nothing changed', () => {
    const { block, written, screen } = terminal();
    block.show(['one', 'two', 'three']);
    block.show(['one', '2']);
    block.show(['one', '2']);
    expect(screen()).toEqual(['one', '2', '']);
    expect(written).toHaveLength(2);
  });

  it('stays under what is written above it, and leaves nothing behind when it is cleared', () => {
    const { block, screen } = terminal();
    block.show(['one', 'two']);
    block.above('a warning\n');
    expect(screen()).toEqual(['a warning', 'one', 'two', '']);
    block.clear();
    block.above('the end\n');
    expect(screen()).toEqual(['a warning', 'the end', '']);
  });

  it('is never higher than the terminal, and goes up over lines that a narrower terminal has broken', () => {
    const { block, stream, written } = terminal(20, 4);
    block.show(['1', '2', '3', '4', '5']);
    expect(screenOf(written.join(''))).toEqual(['1', '2', '3', '']);
    block.show(['x'.repeat(20), 'y']);
    stream.columns = 10;
    block.show(['x'.repeat(10), 'y']);
    expect(written.at(-1)?.slice(0, 5)).toBe('\r\u001b[3A');
  });

  it('is complete and stays in place on a terminal that gives its size as 0', () => {
    const { block, screen } = terminal(0, 0);
    block.show(['one', 'two']);
    block.show(['one', '2']);
    expect(screen()).toEqual(['one', '2', '']);
  });
});
