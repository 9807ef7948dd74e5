/** The commands about vendors: two read the mirror, five write to the service. */
import { Option, type Command } from 'commander';
import type { VendorOrder } from '../../store/reports/vendor-list.ts';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { dryRun } from '../options/common-options.ts';
import { collected, idNumber, wholeFrom } from '../options/option-values.ts';

export function declareVendors(program: Command, does: Does): void {
  const vendors = program
    .command('vendors')
    .summary('vendors: list, show, create, edit, delete, archive, restore')
    .description(
      paragraphs(
        'The vendors: list and show read the mirror; the others write to the service, and apply its answer to the mirror at once.',
      ),
    );
  declareReading(vendors, does);
  declareFields(vendors, does);
  declareStates(vendors, does);
}

const vendorOrders: readonly VendorOrder[] = ['number', 'name', 'country', 'changed', 'outstanding', 'overdue'];

function declareReading(vendors: Command, does: Does): void {
  vendors
    .command('list')
    .description(
      'Lists vendors of the mirror. On a terminal the first 100; elsewhere, with --all and with --json, all of them.',
    )
    .addOption(
      new Option('--state <state>', 'vendors of this state; active unless told').choices([
        'active',
        'deleted',
        'archived',
        'all',
      ]),
    )
    .addOption(
      new Option('--presence <presence>', 'vendors whose presence is this, of whatever state').choices([
        'present',
        'suspect',
        'missing',
        'gone',
      ]),
    )
    .option('--search <text>', 'vendors with this in name, contact, e-mail, account number or city')
    .addOption(
      new Option(
        '--sort <by>',
        'by account and number unless told; changed has the latest first, outstanding and overdue the largest, whatever the currency',
      ).choices(vendorOrders),
    )
    .option('--limit <n>', 'no more than so many', wholeFrom(1))
    .addOption(new Option('--all', 'all of them, on a terminal too').conflicts('limit'))
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror vendors list --search muller', 'finds Müller as well'],
        ['vendor-mirror vendors list --sort overdue --limit 10'],
        ['vendor-mirror vendors list --state deleted --json'],
      ),
    )
    .action(does(async () => (await import('./vendors-list.ts')).vendorsList));
  vendors
    .command('show')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description(
      'Shows every field of a vendor, its balances and tax defaults, and its timeline: what changed, from what to what.',
    )
    .addHelpText('after', examples(['vendor-mirror vendors show 1562']))
    .action(does(async () => (await import('./vendors-show.ts')).vendorsShow));
}

/** The options that say what fields shall be. */
function withFields(command: Command): Command {
  return command
    .option('--set <name=value>', 'a field; `name=` is empty text, `name=null` is null; may be repeated', collected)
    .option('--file <file>', 'the fields as a JSON object; - is standard input')
    .option(...dryRun);
}

function declareFields(vendors: Command, does: Does): void {
  withFields(vendors.command('create'))
    .description(
      paragraphs(
        'Creates a vendor at the service. It needs vendor_name, language and currency_code.',
        'Where --set and --file name the same field, --set holds.',
        'Where an earlier creation of the same name may have been carried out, the service is searched for it first.',
      ),
    )
    .option('--again', 'create it without that search')
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror vendors create --set "vendor_name=Acme Ltd" --set language=en --set currency_code=USD'],
        ['vendor-mirror vendors create --file vendor.json'],
        ['… --set \'tax_defaults=[{"system_taxid": 36859, "enabled": true}]\'', 'as JSON'],
      ),
    )
    .action(does(async () => (await import('./vendors-write.ts')).vendorsCreate));
  withFields(vendors.command('edit').argument('<vendorid>', "the vendor's number", idNumber))
    .description('Changes fields of a vendor at the service; those that are not named stay as they are.')
    .option(...again)
    .addHelpText('after', examples(['vendor-mirror vendors edit 1562 --set city=Boise --set is_1099=true']))
    .action(does(async () => (await import('./vendors-write.ts')).vendorsEdit));
}

/** Of commands that change a vendor. */
const again = ['--again', 'send it without looking what became of an earlier edit whose outcome is open'] as const;

function declareStates(vendors: Command, does: Does): void {
  vendors
    .command('delete')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Deletes a vendor at the service (vis_state 1). It can be restored.')
    .option('--yes', 'do not ask for confirmation')
    .option(...again)
    .option(...dryRun)
    .addHelpText('after', examples(['vendor-mirror vendors delete 1562 --yes']))
    .action(does(async () => (await import('./vendors-write.ts')).vendorsDelete));
  vendors
    .command('archive')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Archives a vendor at the service (vis_state 2).')
    .option(...again)
    .option(...dryRun)
    .action(does(async () => (await import('./vendors-write.ts')).vendorsArchive));
  vendors
    .command('restore')
    .argument('<vendorid>', "the vendor's number", idNumber)
    .description('Makes a deleted or archived vendor active again at the service (vis_state 0).')
    .option(...again)
    .option(...dryRun)
    .action(does(async () => (await import('./vendors-write.ts')).vendorsRestore));
}
