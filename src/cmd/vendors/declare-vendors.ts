/** The commands about vendors: two read the mirror, five write to the service. */
import { Option, type Command } from 'commander';
import type { VendorOrder } from '../../store/reports/vendor-list.ts';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { dryRun } from '../options/common-options.ts';
import { collected, idNumber, wholeFrom } from '../options/option-values.ts';

export function declareVendors(program: Command, lazy: LazyAction): void {
  const vendors = program
    .command('vendors')
    .summary('list, show, create, edit, delete, archive, restore vendors')
    .description(
      paragraphs(
        'The commands list and show read the mirror. The others write to the service and apply its answer to the mirror at once.',
      ),
    );
  declareReading(vendors, lazy);
  declareFields(vendors, lazy);
  declareStates(vendors, lazy);
}

const vendorOrders: readonly VendorOrder[] = ['number', 'name', 'country', 'changed', 'outstanding', 'overdue'];

function declareReading(vendors: Command, lazy: LazyAction): void {
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
    .addOption(
      new Option('--presence <presence>', 'only vendors with this presence, in any state').choices([
        'present',
        'suspect',
        'missing',
        'gone',
      ]),
    )
    .option('--search <text>', 'only vendors with this text in name, contact, e-mail, account number or city')
    .addOption(
      new Option(
        '--sort <by>',
        'default: by account and number; changed puts the latest first, outstanding and overdue the largest, regardless of currency',
      ).choices(vendorOrders),
    )
    .option('--limit <n>', 'at most this many', wholeFrom(1))
    .addOption(new Option('--all', 'all vendors, on a terminal too').conflicts('limit'))
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror vendors list --search muller', 'finds Müller as well'],
        ['vendor-mirror vendors list --sort overdue --limit 10'],
        ['vendor-mirror vendors list --state deleted --json'],
      ),
    )
    .action(lazy(async () => (await import('./vendors-list.ts')).vendorsList));
  vendors
    .command('show')
    .summary('show one vendor with its timeline')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description(
      'Shows every field of a vendor, its balances and tax defaults, and a timeline of its changes with old and new values.',
    )
    .addHelpText('after', examples(['vendor-mirror vendors show 1562']))
    .action(lazy(async () => (await import('./vendors-show.ts')).vendorsShow));
}

/** The options that say what fields shall be. */
function withFields(command: Command): Command {
  return command
    .option('--set <name=value>', 'a field; `name=` is empty text, `name=null` is null; may be repeated', collected)
    .option('--file <file>', 'the fields as a JSON object; - is standard input')
    .option(...dryRun);
}

function declareFields(vendors: Command, lazy: LazyAction): void {
  withFields(vendors.command('create'))
    .summary('create a vendor in the service')
    .description(
      paragraphs(
        'Creates a vendor in the service. It needs vendor_name, language and currency_code.',
        'If --set and --file name the same field, --set wins.',
        'If an earlier attempt to create a vendor with this name may have succeeded, the service is searched for it first.',
      ),
    )
    .option('--again', 'create the vendor without this search')
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror vendors create --set "vendor_name=Acme Ltd" --set language=en --set currency_code=USD'],
        ['vendor-mirror vendors create --file vendor.json'],
        ['… --set \'tax_defaults=[{"system_taxid": 36859, "enabled": true}]\'', 'as JSON'],
      ),
    )
    .action(lazy(async () => (await import('./vendors-write.ts')).vendorsCreate));
  withFields(vendors.command('edit').argument('<vendorid>', "the vendor's number", idNumber))
    .summary('change fields of a vendor in the service')
    .description('Changes fields of a vendor in the service. Other fields stay as they are.')
    .option(...again)
    .addHelpText('after', examples(['vendor-mirror vendors edit 1562 --set city=Boise --set is_1099=true']))
    .action(lazy(async () => (await import('./vendors-write.ts')).vendorsEdit));
}

/** Of commands that change a vendor. */
const again = ['--again', 'send it without first checking an earlier edit whose outcome is unknown'] as const;

function declareStates(vendors: Command, lazy: LazyAction): void {
  vendors
    .command('delete')
    .summary('delete a vendor in the service')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Deletes a vendor in the service (vis_state 1). It can be restored.')
    .option('--yes', 'do not ask for confirmation')
    .option(...again)
    .option(...dryRun)
    .addHelpText('after', examples(['vendor-mirror vendors delete 1562 --yes']))
    .action(lazy(async () => (await import('./vendors-write.ts')).vendorsDelete));
  vendors
    .command('archive')
    .summary('archive a vendor in the service')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Archives a vendor in the service (vis_state 2).')
    .option(...again)
    .option(...dryRun)
    .action(lazy(async () => (await import('./vendors-write.ts')).vendorsArchive));
  vendors
    .command('restore')
    .summary('make a deleted or archived vendor active again')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Makes a deleted or archived vendor active again in the service (vis_state 0).')
    .option(...again)
    .option(...dryRun)
    .action(lazy(async () => (await import('./vendors-write.ts')).vendorsRestore));
}
