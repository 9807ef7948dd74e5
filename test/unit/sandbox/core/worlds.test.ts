import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { defaultWorld, parseWorld, worldAxes } from '../../../../src/sandbox/core/worlds.ts';

describe('worlds', () => {
  it('without a choice have every default', () => {
    expect(parseWorld([])).toEqual(defaultWorld);
    expect(defaultWorld).toMatchObject({
      records: 'plain',
      paging: 'honoured',
      perPage: 'capped',
      readOne: 'yes',
      listDeleted: 'hidden',
    });
  });

  it('accept every value that their table names', () => {
    for (const { key, values } of worldAxes)
      for (const value of values) expect(parseWorld([`${key}=${value}`])).toEqual({ ...defaultWorld, [key]: value });
  });

  it('take amounts as numbers', () => {
    expect(parseWorld(['listLag=20', 'unlistedIds=3'])).toMatchObject({ listLag: 20, unlistedIds: 3 });
  });

  it('describe each axis', () => {
    for (const { meaning, initial } of worldAxes) {
      expect(meaning).not.toBe('');
      expect(initial).not.toBe('');
    }
  });

  it.each([
    ['color=red', /switch “color” of a world\. Known switches: records, paging, pageZero, pageNames, perPage/],
    ['order=random', /order is one of id, newest, updated, updated_newest, shuffled, not “random”/],
    ['listLag=soon', /listLag is a number of seconds from 0 up, not “soon”/],
    ['listLag=-1', /not “-1”/],
    ['order', /not “”/],
  ])('refuse %s and say what is allowed', (pair, message) => {
    const attempt = () => parseWorld([pair]);
    expect(attempt).toThrow(MirrorError);
    expect(attempt).toThrow(message);
  });
});
