/**
 * The commands about vendors, gateways and callbacks, with their options: some read the mirror, the others write to the service.
 */
import { presences } from '../domain/presence.ts';
import { Option } from 'commander';
import type { VendorOrder } from '../store/reports/vendor-list.ts';
import { collected, dryRun, eventName, idNumber, type ProgramCommand, webAddress, wholeFrom } from './options.ts';

/** The commands about vendors: two read the mirror, five write to the service. */
export function declareVendors(program: ProgramCommand): void {
  const vendors = program
    .command('vendors')
    .summary('list, show, create, edit, delete, archive, restore vendors')
    .about(
      'The commands list and show read the mirror. The others write to the service and apply its answer to the mirror at once.',
    );
  declareReading(vendors);
  declareFields(vendors);
  declareStates(vendors);
}

const vendorOrders: readonly VendorOrder[] = ['number', 'name', 'country', 'changed', 'outstanding', 'overdue'];

function declareReading(vendors: ProgramCommand): void {
  vendors
    .command('list')
    .summary('list vendors of the mirror')
    .description(
      'Lists the vendors of the mirror: on a terminal the first 100; elsewhere, or with --all or --json, all of them.',
    )
    .addOption(
      new Option('--state <state>', 'only vendors in this state; default: active').choices([
        'active',
        'deleted',
        'archived',
        'all',
      ]),
    )
    .addOption(new Option('--presence <presence>', 'only vendors with this presence, in any state').choices(presences))
    .option(
      '--search <text>',
      'only vendors with this text in name, contact, e-mail, account number or city, or this id',
    )
    .addOption(
      new Option(
        '--sort <by>',
        'default: by account and number; changed puts the latest first, outstanding and overdue the largest, regardless of currency',
      ).choices(vendorOrders),
    )
    .option('--limit <n>', 'at most this many', wholeFrom(1))
    .addOption(new Option('--all', 'all vendors, on a terminal too').conflicts('limit'))
    .examples(
      ['vendor-mirror vendors list --search muller', 'finds Müller as well'],
      ['vendor-mirror vendors list --sort overdue --limit 10'],
      ['vendor-mirror vendors list --state deleted --json'],
    )
    .runs(async () => (await import('./vendors-list.ts')).vendorsList);
  vendors
    .command('show')
    .summary('show one vendor with its timeline')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description(
      'Shows every field of a vendor, its balances and tax defaults, and a timeline of its changes with old and new values.',
    )
    .examples(['vendor-mirror vendors show 1562'])
    .runs(async () => (await import('./vendors-show.ts')).vendorsShow);
}

/** The options that say what fields shall be. */
function withFields(command: ProgramCommand): ProgramCommand {
  return command
    .option('--set <name=value>', 'a field; `name=` is empty text, `name=null` is null; may be repeated', collected)
    .option('--file <file>', 'the fields as a JSON object; - is standard input')
    .option(...dryRun);
}

function declareFields(vendors: ProgramCommand): void {
  withFields(vendors.command('create'))
    .summary('create a vendor in the service')
    .about(
      'Creates a vendor in the service. It needs vendor_name, language and currency_code.',
      'If --set and --file name the same field, --set wins.',
      'If an earlier attempt to create a vendor with this name may have succeeded, the service is searched for it first.',
    )
    .option('--again', 'create the vendor without this search')
    .examples(
      ['vendor-mirror vendors create --set "vendor_name=Acme Ltd" --set language=en --set currency_code=USD'],
      ['vendor-mirror vendors create --file vendor.json'],
      ['… --set \'tax_defaults=[{"system_taxid": 36859, "enabled": true}]\'', 'as JSON'],
    )
    .runs(async () => (await import('./vendors-write.ts')).vendorsCreate);
  withFields(vendors.command('edit').argument('<vendorid>', "the vendor's number", idNumber))
    .summary('change fields of a vendor in the service')
    .description('Changes fields of a vendor in the service. Other fields stay as they are.')
    .option(...again)
    .examples(['vendor-mirror vendors edit 1562 --set city=Boise --set is_1099=true'])
    .runs(async () => (await import('./vendors-write.ts')).vendorsEdit);
}

/** Of commands that change a vendor. */
const again = ['--again', 'send it without first checking an earlier edit whose outcome is unknown'] as const;

function declareStates(vendors: ProgramCommand): void {
  vendors
    .command('delete')
    .summary('delete a vendor in the service')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Deletes a vendor in the service (vis_state 1). It can be restored.')
    .option('--yes', 'do not ask for confirmation')
    .option(...again)
    .option(...dryRun)
    .examples(['vendor-mirror vendors delete 1562 --yes'])
    .runs(async () => (await import('./vendors-write.ts')).vendorsDelete);
  vendors
    .command('archive')
    .summary('archive a vendor in the service')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Archives a vendor in the service (vis_state 2).')
    .option(...again)
    .option(...dryRun)
    .runs(async () => (await import('./vendors-write.ts')).vendorsArchive);
  vendors
    .command('restore')
    .summary('make a deleted or archived vendor active again')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Makes a deleted or archived vendor active again in the service (vis_state 0).')
    .option(...again)
    .option(...dryRun)
    .runs(async () => (await import('./vendors-write.ts')).vendorsRestore);
}

/** The commands about gateways: one reads the mirror, one writes to the service. */
export function declareGateways(program: ProgramCommand): void {
  const gateways = program
    .command('gateways')
    .summary('list, remove payment gateways')
    .description('Payment gateways. The command list reads the mirror, remove writes to the service.');
  gateways
    .command('list')
    .summary('list the gateways of the mirror')
    .description('Lists the gateways of the mirror, removed ones included.')
    .runs(async () => (await import('./gateways.ts')).gatewaysList);
  gateways
    .command('remove')
    .summary('remove a gateway in the service')
    .argument('<sgid>', "the gateway's number", idNumber)
    .about(
      'Removes a gateway in the service, so that it takes no more payments for the business.',
      "Only the service's own interface can enable it again.",
    )
    .option('--yes', 'do not ask for confirmation')
    .option(...dryRun)
    .examples(['vendor-mirror gateways remove 26 --yes'])
    .runs(async () => (await import('./gateways.ts')).gatewaysRemove);
}

export function declareCallbacks(program: ProgramCommand): void {
  const callbacks = program
    .command('callbacks')
    .summary('list, register, verify, resend, rotate, delete webhook callbacks')
    .about(
      'The webhook callbacks registered in the service, for any event. The daemon manages its own callbacks automatically.',
      "Addresses are shown without the secret at the end of a mirror's own.",
    );
  declareLooking(callbacks);
  callbacks
    .command('register')
    .summary('register a callback')
    .argument('<event>', 'such as bill_vendor or invoice.create; a noun alone means all its events', eventName)
    .argument('[uri]', "the address that receives the webhooks; by default this installation's own", webAddress)
    .about(
      'Registers a callback. The service sends a verification code to the address.',
      'Without an address it is the callback that the daemon keeps, which verifies it: this ends the wait after registrations that were refused or did not last.',
    )
    .examples(['vendor-mirror callbacks register invoice.create https://hooks.example.com/inbox'])
    .runs(async () => (await import('./callbacks.ts')).callbacksRegister);
  callbacks
    .command('verify')
    .summary('return a verification code')
    .argument('<callbackid>', "the callback's number", idNumber)
    .argument('[code]', 'the verification code; better left out, because others may see it on the command line')
    .about(
      'Returns the verification code that the service sent to the address. Then the service begins to deliver.',
      'Without a code, or with -, the code is read from standard input; on a terminal, you are asked for it.',
    )
    .examples(['vendor-mirror callbacks verify 2001 < code.txt'])
    .runs(async () => (await import('./callbacks.ts')).callbacksVerify);
  callbacks
    .command('resend')
    .summary('request a new verification code')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Requests a new verification code. Until it is verified, nothing is delivered.')
    .runs(async () => (await import('./callbacks.ts')).callbacksResend);
  callbacks
    .command('rotate')
    .summary('replace the secret address of the callback')
    .about(
      "Replaces the secret at the end of this installation's own address, because others know it.",
      'The daemon registers and verifies the new address first, and then deletes the callback at the old one; until then both are served. Without a daemon its next start does that. If it was interrupted, it goes on.',
    )
    .examples(['vendor-mirror callbacks rotate --account 6BApk'])
    .runs(async () => (await import('./callbacks.ts')).callbacksRotate);
  callbacks
    .command('delete')
    .summary('delete a callback')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Deletes a callback. A running daemon registers its own again.')
    .runs(async () => (await import('./callbacks.ts')).callbacksDelete);
}

function declareLooking(callbacks: ProgramCommand): void {
  callbacks
    .command('list')
    .summary('list the callbacks in the service')
    .description('Lists the callbacks registered in the service and marks those of this installation.')
    .option('--event <event>', 'only for this event; a noun or its plural means all its events')
    .option('--uri <uri>', 'only to exactly this address')
    .addOption(new Option('--verified <answer>', 'only verified ones, or only others').choices(['true', 'false']))
    .examples(['vendor-mirror callbacks list --event bill_vendor --verified false'])
    .runs(async () => (await import('./callbacks.ts')).callbacksList);
}
