import { describe, expect, it } from 'vitest';
import { facts, paragraph, wrappedLines } from '../../../../src/cmd/terminal/text.ts';
import { collector } from '../../../support/testbed/command.ts';

const at = (columns?: number): { stdout: ReturnType<typeof collector>['stream'] } => ({
  stdout: collector(columns).stream,
});

const check = ['ok       ', '6BApk paging: The second page is not the first one again.'] as const;

describe('paragraph', () => {
  it('wraps a text below its own beginning', async () => {
    expect(await paragraph(at(40), ...check)).toMatchInlineSnapshot(`
      "ok       6BApk paging: The second page
               is not the first one again."
    `);
  });

  it('puts the text below its lead where too little room is left beside it', async () => {
    expect(await paragraph(at(24), ...check)).toMatchInlineSnapshot(`
      "ok
        6BApk paging: The
        second page is not the
        first one again."
    `);
  });

  it('changes nothing where there is no terminal', async () => {
    expect(await paragraph(at(), ...check)).toBe(check.join(''));
  });
});

describe('facts', () => {
  it('keeps a value in one piece below its name rather than in two lines beside it', async () => {
    const entries = [
      ['vendor_name', 'Ernst Handel'],
      ['primary_contact_email', 'ernst.handel@vendor.example'],
      ['created_at', '2015-01-01 00:00:00 (11 years ago)'],
    ] as const;
    expect(await facts(at(40), entries)).toMatchInlineSnapshot(`
      "  vendor_name            Ernst Handel
        primary_contact_email
          ernst.handel@vendor.example
        created_at
          2015-01-01 00:00:00 (11 years ago)"
    `);
  });
});

describe('wrappedLines', () => {
  it('wraps each line of an error under its own indentation, and keeps a command in one piece', () => {
    const error =
      'vendor-mirror: Many vendors are not listed.\n  If they are gone, allow it: `vendor-mirror reconcile`.';
    expect(wrappedLines(collector(36).stream, error)).toMatchInlineSnapshot(`
      "vendor-mirror: Many vendors are not
      listed.
        If they are gone, allow it:
        \`vendor-mirror reconcile\`."
    `);
    expect(wrappedLines(collector().stream, error)).toBe(error);
  });

  it('leaves an address that stands alone in one piece: broken, it could not be copied', () => {
    const address = `Open this address:\n\n  https://api.example.com/auth/authorize?state=${'a'.repeat(40)}\n`;
    expect(wrappedLines(collector(36).stream, address)).toBe(address);
  });
});
