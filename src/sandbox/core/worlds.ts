/**
 * Worlds: one choice for every point that the reference leaves open. The first value of each axis is how the service last behaved. Also
 * the kinds of fault, in a file that the command line loads without the rest of the sandbox.
 */
import { MirrorError } from '../../domain/errors.ts';

interface Choice<Value extends string> {
  readonly meaning: string;
  readonly values: readonly [Value, ...Value[]];
}

interface Amount {
  readonly meaning: string;
  readonly unit: string;
  readonly initial: number;
}

const choice = <const Values extends readonly [string, ...string[]]>(
  meaning: string,
  ...values: Values
): Choice<Values[number]> => ({ meaning, values });
const amount = (meaning: string, unit: string, initial: number): Amount => ({ meaning, unit, initial });

const axes = {
  records: choice(
    "what vendors are like: a real company's; or of every kind that breaks programs, with huge amounts and strange text",
    'plain',
    'odd',
  ),
  paging: choice(
    'the page parameter; `echoed` names the asked page and shows the first, `zero` counts pages of vendors from 0',
    'honoured',
    'ignored',
    'echoed',
    'zero',
  ),
  pageZero: choice('page 0 of lists whose pages count from 1: shown as page 1, or refused', 'first', '422'),
  pageNames: choice(
    'names of the paging parameters: `page` and `per_page`, `page` and `limit`, or `p` and `size`; others are ignored',
    'per_page',
    'limit',
    'size',
  ),
  perPage: choice(
    'per_page; `capped` cuts to 100, `all` shows every row at once',
    'capped',
    'honoured',
    'ignored',
    'all',
  ),
  pastEnd: choice(
    'a page of vendors past the last; `422` is an error in the form of the service, `html` a 404 in none',
    'empty',
    '404',
    'last',
    'first',
    '422',
    'html',
  ),
  order: choice('order of the vendor list', 'id', 'newest', 'updated', 'updated_newest', 'shuffled'),
  total: choice(
    'rows of vendors counted in `total`: those shown; deleted ones too; one in ten fewer; at most 20; those of the page; none',
    'right',
    'counts_hidden',
    'fewer',
    'capped',
    'page',
    'zero',
  ),
  pages: choice('`pages` of vendors: as many as `total` fills, always 1, or a billion', 'counted', 'one', 'endless'),
  unlistedIds: amount('vendors that the token may not read, counted in `total` and never shown', 'vendors', 0),
  listDeleted: choice(
    'whether lists show deleted vendors (vis_state 1); `recent` only for ten minutes after their last change, by a filter too',
    'hidden',
    'shown',
    'recent',
  ),
  listArchived: choice('whether the list shows archived vendors (vis_state 2)', 'shown', 'hidden'),
  visStateFilter: choice('search[vis_state]', 'honoured', 'ignored'),
  filterForm: choice(
    'form of filters: `search[uri]=…`, `filter[uri]=…`, `uri=…`, or any of them; others are ignored',
    'search',
    'filter',
    'plain',
    'any',
  ),
  listLag: amount('how far copies that answer lists may be behind', 'seconds', 0),
  readLag: amount('how far copies that answer reads by id may be behind', 'seconds', 0),
  readOne: choice('reading one vendor by id', 'yes', '404', '405'),
  readUnlisted: choice('reading a vendor by id that the token may not read', 'denied', '404'),
  readDeleted: choice('reading a deleted vendor by id', 'shown', '404'),
  editState: choice('a PUT of vis_state among other fields', 'state', 'all'),
  noteInList: choice('whether lists carry the `note` that reads by id carry', 'no', 'yes'),
  listedAs: choice(
    'how lists show `listedField`: as reads by id do, blank, masked but for the last four characters, cut to six, the same of every vendor, masked of two vendors in three, or as it was four seconds before',
    'whole',
    'blank',
    'masked',
    'cut',
    'constant',
    'some',
    'older',
  ),
  listedField: choice(
    'the field of which `listedAs` speaks; of a note, where lists carry it',
    'account_number',
    'note',
    'outstanding_balance',
    'tax_defaults',
  ),
  visState: choice('type of vis_state', 'integer', 'text'),
  values: choice(
    'whether every field has a form that the reference names; `strange`: one field of some vendors has another',
    'named',
    'strange',
  ),
  balances: choice('form of balances; an object holds one amount', 'array', 'object'),
  unlistedRows: amount('vendors that lists leave out and do not count, although reads by id show them', 'vendors', 0),
  serviceTime: choice(
    "clock of created_at and updated_at; `local` is New York's, which falls back; `mixed` is that in updated_at alone",
    'utc',
    'local',
    'mixed',
  ),
  required: choice('what a new vendor needs', 'name_language', 'name', 'name_language_currency'),
  tidies: choice(
    'what becomes of the name of a vendor that is created or edited',
    'no',
    'blanks',
    'entities',
    'accents',
    'case',
    'length',
    'all',
  ),
  createStatus: choice('status of a create', '200', '201', '202'),
  gatewayPath: choice(
    'where gateways are, below the account; `any` of the paths that the reference writes',
    'systems/gateways',
    'system/gateways',
    'systems/gateway',
    'any',
  ),
  deletedGateway: choice('status of deleting a gateway', '200', '204'),
  deletedCallback: choice('status of deleting a callback', '200', '204'),
  gatewayScope: choice('kind of scope that removes a gateway', 'write', 'read'),
  apiVersion: choice('the Api-Version header on gateways and callbacks', 'optional', 'required'),
  errorForm: choice(
    'errors: each area in its own form, or all in one; `in200` puts accounting errors into HTTP 200, `object200` as an object',
    'accounting',
    'events',
    'rpc',
    'html',
    'in200',
    'object200',
  ),
  rateScope: choice(
    'whose requests the rate limits count: those of a token, or those of each account, vendors and callbacks apart',
    'token',
    'account',
  ),
  rateWindow: choice('how the minute of the rate limit is counted', 'fixed', 'sliding'),
  deleteEvent: choice('events of a soft delete', 'update', 'delete', 'both', 'none'),
  archiveEvent: choice('event of archiving', 'update', 'delete', 'none'),
  restoreEvent: choice('event of setting vis_state back to 0', 'update', 'create', 'none'),
  objectId: choice('object_id of a delivery; `text` is no id', 'resource', 'callback', 'text'),
  signatureHeader: choice('name of the header with the signature', 'X-Service-Hmac-SHA256', 'X-FreshBooks-Hmac-SHA256'),
  keyOrder: choice(
    'key order under the signature; `own` is always the same, and none of the others',
    'arrival',
    'sorted',
    'own',
  ),
  spacing: choice(
    'colons and commas under the signature that a space follows: those between keys and values, or those in them too',
    'between',
    'every',
  ),
  escaping: choice('characters beyond ASCII under the signature', 'ascii', 'utf8'),
  code: choice(
    'verification codes: 30 to 34 letters and digits as captured, or any text of any length',
    'captured',
    'any',
  ),
  extraParameter: choice('a delivery parameter that the reference does not name', 'absent', 'present'),
  signAt: choice('verifier that signs: the one at sending, or at the event', 'sending', 'event'),
  attempts: amount('how often a delivery is tried before it is dropped', 'attempts', 5),
  retryAfter: amount('how long after a failed attempt a delivery is tried again', 'seconds', 15),
  retryGrowth: amount('how many times longer each further wait is', 'times', 4),
  disableAfter: amount('nothing but failures for this long disables a callback', 'minutes', 1440),
  disabled: choice('a disabled callback in lists', 'unverified', 'absent', 'silent'),
  handshakeForm: choice('body of the verification POST', 'form', 'json'),
  handshakeSigned: choice('whether the verification POST is signed', 'yes', 'no'),
  handshakeWhen: choice('verification POST against the answer of register or resend', 'after', 'before'),
  resentCode: choice('code that a resend sends', 'new', 'same'),
  wrongVerifier: choice('a wrong verifier', '4xx', 'unverified'),
  readCallback: choice('reading one callback by id', 'yes', '405'),
  duplicate: choice('registering the same event and uri again', '422', 'second'),
  callbackKeys: choice('keys of a callback: both ids as documented, or callbackid as captured', 'both', 'callbackid'),
  refuses: choice(
    'what is refused of the requests that the service need not honour: `search[vis_state]`, a `per_page` other than the first that was asked for, every `per_page`, the list of gateways, or all of them',
    'none',
    'state',
    'sizes',
    'per_page',
    'gateways',
    'all',
  ),
  refusal: choice(
    'how that is refused; `html` with status 200',
    '400',
    '403',
    '404',
    '405',
    '410',
    '422',
    '500',
    '501',
    'html',
  ),
  brokenRows: choice('rows without an id, of another integration, among callbacks and gateways', 'none', 'one'),
  callbackTime: choice('form of updated_at of a callback', 'iso', 'plain'),
  callbackUri: choice(
    'address of a callback: as it was given, with a slash at its end, with an escape, or not in answers',
    'given',
    'slash',
    'escaped',
    'unnamed',
  ),
  accountIds: choice(
    'where `/auth/api/v1/users/me` tells the ids of accounts; with `roles` that of each business is null',
    'businesses',
    'roles',
  ),
} as const;

type Axes = typeof axes;

/** One value for each axis. */
export type World = { readonly [Key in keyof Axes]: Axes[Key] extends Choice<infer Value> ? Value : number };

/** An axis as people read it; `values` is empty where any amount goes. */
export interface WorldAxis {
  readonly key: keyof World;
  readonly values: readonly string[];
  readonly unit: string | undefined;
  readonly initial: string;
  readonly meaning: string;
}

/** Every axis, in the order in which help and documents list them. */
export const worldAxes: readonly WorldAxis[] = Object.entries(axes).map(([key, axis]) => ({
  key: key as keyof World,
  meaning: axis.meaning,
  ...('values' in axis
    ? { values: axis.values, unit: undefined, initial: axis.values[0] }
    : { values: [], unit: axis.unit, initial: String(axis.initial) }),
}));

/**
 * A world from `key=value` texts; what is not named keeps its default. Throws `usage`, naming what is allowed.
 */
export function parseWorld(pairs: readonly string[]): World {
  const world: Record<string, string | number> = {};
  for (const { key, initial, unit } of worldAxes) world[key] = unit === undefined ? initial : Number(initial);
  for (const pair of pairs) {
    const [key = '', value = ''] = pair.split(/=(.*)/s, 2);
    const axis = worldAxes.find((candidate) => candidate.key === key);
    if (!axis) {
      const known = worldAxes.map((candidate) => candidate.key).join(', ');
      throw new MirrorError('usage', `Unknown switch “${key}” of a world. Known switches: ${known}.`);
    }
    world[key] = parseValue(axis, value);
  }
  return world as World;
}

export const defaultWorld: World = parseWorld([]);

function parseValue({ key, values, unit }: WorldAxis, value: string): string | number {
  if (unit === undefined) {
    if (values.includes(value)) return value;
    throw new MirrorError('usage', `${key} is one of ${values.join(', ')}, not “${value}”.`);
  }
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new MirrorError('usage', `${key} is a number of ${unit} from 0 up, not “${value}”.`);
}

/** Every kind, with what it does. */
export const faultKinds = {
  '401': 'the token is refused',
  '403': 'access is refused',
  '429': 'too many requests, Retry-After in seconds',
  '429_date': 'too many requests, Retry-After as a date',
  '500': 'a fault of the service',
  '503': 'the service is down, Retry-After in seconds',
  html: 'a maintenance page with status 200',
  errors_in_200: 'an accounting error inside status 200',
  redirect: 'a redirect to another host',
  hang: 'no answer at all',
  reset: 'the connection breaks before anything is done',
  reset_after: 'the connection breaks after everything is done',
  stall: 'the body stops half-way, the connection stays',
  truncated: 'the body breaks off half-way',
  empty_list: 'a list without rows',
  wrong_page: 'a list that names another page than the one it shows',
} as const;
export type FaultKind = keyof typeof faultKinds;
