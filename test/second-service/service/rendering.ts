/** How a vendor looks in an answer: what lists leave out, how balances and times are written, and what nobody can read. */

import { type Choices } from './choices.ts';
import { type Money, textFields, type Vendor } from './records.ts';

export type Shown = Record<string, unknown>;

/** The fields of the account that only reads by id carry. */
function leftOutFields({ leftOut }: Choices): string[] {
  switch (leftOut) {
    case 'nothing':
      return [];
    case 'balances':
      return ['outstanding_balance', 'overdue_balance'];
    case 'note, is_1099 and website':
      return ['note', 'is_1099', 'website'];
    case 'note':
    case 'is_1099':
    case 'tax_defaults':
      return [leftOut];
  }
}

/** How lists show a field that they show otherwise than reads by id do, given what those show. */
function otherwise({ listedOtherwise, blanks }: Choices, { id }: Vendor, shown: Shown): Shown {
  const text = (field: string): string => (typeof shown[field] === 'string' ? shown[field] : '');
  const masked = text('account_number').replaceAll(/.(?=.{2})/g, '*');
  switch (listedOtherwise) {
    case 'nothing':
      return {};
    case 'balances: none':
      return { outstanding_balance: [], overdue_balance: [] };
    case 'balances: zero': {
      const zero = [{ amount: { amount: '0.00', code: 'USD' } }];
      return { outstanding_balance: zero, overdue_balance: zero };
    }
    case 'tax_defaults: none':
      return { tax_defaults: [] };
    case 'account_number: masked':
      return { account_number: masked };
    case 'account_number: masked of most vendors':
      return id % 4 === 0 ? {} : { account_number: masked };
    case 'website: blank':
      return { website: blanks === 'null' ? null : '' };
    case 'phone: always the same':
      return { phone: '+1 555 0100' };
    case 'note: cut':
      return { note: text('note').slice(0, 2) };
  }
}

/** The fields of which only reads by id tell: lists leave them out, or show them otherwise. */
export function fieldsOnlyById(choices: Choices): string[] {
  const [field = ''] = choices.listedOtherwise.split(':');
  const shown = field === 'balances' ? ['outstanding_balance', 'overdue_balance'] : [field];
  return [...leftOutFields(choices), ...shown];
}

/** The values of the one vendor of which a field cannot be read. */
const unreadableValues: Record<Exclude<Choices['unreadable'], 'nothing'>, readonly unknown[]> = {
  outstanding_balance: [[{}], {}, { amount: null }, [{ amount: { amount: 'much', code: 'USD' } }], 12.5],
  overdue_balance: [[{ amount: { amount: '4.00', code: 'USD' } }, { amount: {} }], 'none'],
  vis_state: [3, 'active', {}],
  is_1099: ['ja', 2, []],
  created_at: ['yesterday', { date: 1 }, '2020-13-45 99:00:00'],
  phone: [{ number: '1' }, ['1', '2']],
  tax_defaults: ['none', { taxid: 1 }, [7]],
};

export class Rendering {
  /** The vendor of which a field cannot be read. */
  unreadableId: number | undefined;
  readonly #choices: Choices;
  #answers = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  /** As a read by id shows it. */
  whole(vendor: Vendor): Shown {
    const choices = this.#choices;
    const blank = choices.blanks === 'null' ? null : '';
    const shown: Shown = {
      vendorid: vendor.id,
      ...Object.fromEntries(textFields.map((field) => [field, vendor.texts[field] ?? blank])),
      is_1099: vendor.is1099,
      vis_state: choices.visState === 'number' ? vendor.visState : String(vendor.visState),
      tax_defaults: vendor.taxDefaults.map(({ createdAt, updatedAt, ...tax }) => ({
        vendorid: vendor.id,
        ...tax,
        ...this.#times(createdAt, updatedAt),
      })),
      outstanding_balance: this.#balance(vendor, vendor.outstanding),
      overdue_balance: this.#balance(vendor, vendor.overdue),
      ...this.#times(vendor.createdAt, vendor.updatedAt),
    };
    if (choices.unreadable !== 'nothing' && vendor.id === this.unreadableId) {
      const values = unreadableValues[choices.unreadable];
      shown[choices.unreadable] = values[choices.seed % values.length];
    }
    return shown;
  }

  /** As an answer carries it. */
  answered(vendor: Vendor, by: 'list' | 'id'): Shown {
    const shown = this.whole(vendor);
    if (this.#choices.everDifferent === 'an unknown field')
      shown['logo_url'] = `https://files.example/${vendor.id}?signature=${++this.#answers}`;
    if (by === 'id') return shown;
    const without = leftOutFields(this.#choices);
    const listed = { ...shown, ...otherwise(this.#choices, vendor, shown) };
    return Object.fromEntries(Object.entries(listed).filter(([field]) => !without.includes(field)));
  }

  #balance(vendor: Vendor, amounts: readonly Money[]): unknown {
    const { balances, noBalance } = this.#choices;
    const [first] = amounts;
    if (first !== undefined) return balances === 'object' ? first : amounts.map((amount) => ({ amount }));
    const zero = { amount: '0.00', code: vendor.texts.currency_code ?? 'USD' };
    if (noBalance === 'null') return null;
    if (balances === 'list') return noBalance === 'zero' ? [{ amount: zero }] : [];
    return { empty: {}, nulls: { amount: null, code: null }, zero }[noBalance];
  }

  #times(createdAt: number, updatedAt: number): Shown {
    const { zones } = this.#choices;
    return {
      created_at: written(createdAt, zones === 'Eastern' ? 'America/New_York' : 'UTC'),
      updated_at: written(updatedAt, zones === 'UTC' ? 'UTC' : 'America/New_York'),
    };
  }
}

/** YYYY-MM-DD HH:MM:SS in a zone. */
function written(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at);
}
