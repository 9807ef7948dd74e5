import { describe, expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

describe('the command line', () => {
  it('is explained by --help, with every command', async () => {
    const { status, stdout } = await (await testbed({ level: 'command' })).runBare('--help');
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Usage: vendor-mirror [options] [command]

      Keeps a true, fresh copy of an accounting service's bill vendors in one SQLite file.

      Common options:
        -c, --config <file>            settings file; default: $VENDOR_MIRROR_CONFIG, then
                                       /etc/vendor-mirror/mirror.yaml
        --sandbox                      use the built-in sandbox with its own files; this is the default
                                       without settings
        --account <id>                 only this account
        --json                         print one JSON document instead of text
        --log-level <level>            how much to log on standard error (choices: "fatal", "error",
                                       "warn", "info", "debug", "trace", "silent")
        -h, --help                     print help

      Options:
        -V, --version                  print the version

      Commands:
        serve [options]                run the daemon: webhooks, schedules, dashboard
        sync [options]                 mirror all vendors and gateways once
        reconcile [options]            mirror all vendors and record every difference
        verify [options]               compare the mirror with the service, field by field
        status [options]               show what the mirror holds, how fresh it is, and what to do
        doctor [options]               check settings, access, files and network, and say what to do
        vendors                        list, show, create, edit, delete, archive, restore vendors
        gateways                       list, remove payment gateways
        callbacks                      list, register, verify, resend, rotate, delete webhook callbacks
        deliveries                     list received webhooks, retry vendors that were given up
        changes [options]              print the change feed
        export [options] <file>        write a consistent copy of the mirror, or rows of it as .csv,
                                       .json, .ndjson or .parquet
        notify                         list, retry, forget targets of outgoing webhooks
        copy [options]                 copy the mirror and its secrets into a PostgreSQL, where it goes on
        forget [options]               remove fields, a vendor or an account from the mirror and its
                                       history
        secrets                        export, import the secrets
        login [options] [connection]   get access by OAuth in a browser
        logout [options] [connection]  delete the tokens of login
        accounts                       list, add, remove, pause, resume accounts
        completion [options] <shell>   print a script that lets a shell complete these commands
        version [options]              print the version
        sandbox [options]              run an emulator of the service, with invented vendors
        help [command]                 print the help of a command

      Examples:
        vendor-mirror sync --sandbox                            # try it: mirror the built-in sandbox
        vendor-mirror sync -c mirror.yaml                       # mirror the accounts of your settings
        vendor-mirror status -c mirror.yaml                     # what it holds and how fresh it is
        sqlite3 data/sandbox.db "select * from active_vendors"  # query the mirror with any SQLite reader
      "
    `);
  });

  it('is explained for each command, with the common options', async () => {
    const { stdout } = await (await testbed({ level: 'command' })).runBare('vendors', 'list', '--help');
    expect(stdout).toMatchInlineSnapshot(`
      "Usage: vendor-mirror vendors list [options]

      Lists the vendors of the mirror: on a terminal the first 100; elsewhere, or with --all or --json,
      all of them.

      Options:
        --state <state>        only vendors in this state; default: active (choices: "active", "deleted",
                               "archived", "all")
        --presence <presence>  only vendors with this presence, in any state (choices: "present",
                               "suspect", "missing", "gone")
        --search <text>        only vendors with this text in name, contact, e-mail, account number or
                               city, or this id
        --sort <by>            default: by account and number; changed puts the latest first, outstanding
                               and overdue the largest, regardless of currency (choices: "number", "name",
                               "country", "changed", "outstanding", "overdue")
        --limit <n>            at most this many
        --all                  all vendors, on a terminal too

      Common options:
        -c, --config <file>    settings file; default: $VENDOR_MIRROR_CONFIG, then
                               /etc/vendor-mirror/mirror.yaml
        --sandbox              use the built-in sandbox with its own files; this is the default without
                               settings
        --account <id>         only this account
        --json                 print one JSON document instead of text
        --log-level <level>    how much to log on standard error (choices: "fatal", "error", "warn",
                               "info", "debug", "trace", "silent")
        -h, --help             print help

      Examples:
        vendor-mirror vendors list --search muller            # finds Müller as well
        vendor-mirror vendors list --sort overdue --limit 10
        vendor-mirror vendors list --state deleted --json
      "
    `);
  });

  it.each([40, 60, 80, 200])('is explained in a terminal of %i columns, with no line wider', async (columns) => {
    const line = await testbed({ level: 'command', columns });
    for (const command of [[], ['sync'], ['vendors', 'list'], ['sandbox']]) {
      const { stdout } = await line.runBare(...command, '--help');
      const [help = '', examples = ''] = stdout.split('\nExamples:\n');
      const isWide = (text: string): boolean => text.length > columns;
      expect(help.split('\n').slice(1).filter(isWide)).toEqual([]);
      // Commands stay whole, so that they can be copied.
      const commands = examples.split('\n').filter((text) => !text.startsWith('  #'));
      expect(commands.filter((text) => isWide(text) && text.includes('  #'))).toEqual([]);
    }
  });

  it.each(
    [
      ['serve', 'sync', 'reconcile', 'verify', 'status', 'doctor', 'changes', 'export', 'completion', 'version'].map(
        (name) => [name],
      ),
      ['list', 'show', 'create', 'edit', 'delete', 'archive', 'restore'].map((name) => ['vendors', name]),
      ['list', 'remove'].map((name) => ['gateways', name]),
      ['list', 'register', 'verify', 'resend', 'delete'].map((name) => ['callbacks', name]),
      ['list', 'retry'].map((name) => ['deliveries', name]),
    ].flat(),
  )('%j %j says what it does', async (...command) => {
    const { status, stdout } = await (await testbed({ level: 'command' })).runBare(...command, '--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Usage: vendor-mirror .*\n\n[A-Z][^]*\.\n/);
    expect(stdout).toContain('Common options:');
  });

  it('tells its version', async () => {
    expect((await (await testbed({ level: 'command' })).runBare('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['--frobnicate'], "Unknown option '--frobnicate'."],
    [['sink'], "Unknown command 'sink' (Did you mean sync?)."],
    [['vendors', 'list', '--limit', 'many'], 'It must be a whole number from 1.\n'],
    [['vendors', 'list', '--state', 'odd'], 'Allowed choices are active, deleted, archived, all.'],
    [['vendors', 'show'], "Missing required argument 'vendorid'."],
    [['export'], "Missing required argument 'file'."],
    [['sync', 'again'], 'Too many arguments'],
    [['vendors', 'edit'], "Missing required argument 'vendorid'."],
    [['vendors', 'delete', '15a', '--yes'], 'It must be a whole number from 1.\n'],
    [['callbacks', 'list', '--verified', 'maybe'], 'Allowed choices are true, false.'],
    [['deliveries', 'list', '--outcome', 'odd'], 'Allowed choices are pending, applied,'],
    [['reconcile', '--approve-absences', 'all'], 'It must be a whole number from 0.\n'],
    [['status', '--log-level', 'loud'], 'Allowed choices are fatal,'],
  ])('%j exits with 64', async (argv, message) => {
    const { status, stdout, stderr } = await (await testbed({ level: 'command' })).runBare(...argv);
    expect(status).toBe(64);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^vendor-mirror: /);
    expect(stderr).toContain(message);
    expect(stderr).toContain('See `vendor-mirror --help`.');
  });

  it.each([[[]], [['vendors']], [['gateways']], [['callbacks']], [['deliveries']]])(
    '%j alone exits with 64 and shows the help',
    async (argv) => {
      const { status, stdout, stderr } = await (await testbed({ level: 'command' })).runBare(...argv);
      expect(status).toBe(64);
      expect(stdout).toBe('');
      expect(stderr).toContain('Usage: vendor-mirror');
    },
  );

  it('H10 text from outside cannot control the terminal, not in an error either', async () => {
    const { stderr } = await (await testbed({ level: 'command' })).runBare('status', '--account', 'x\u001b[31m');
    expect(stderr).toContain('the account x␛[31m;');
    expect((await (await testbed({ level: 'command' })).runBare('s\u001b[31m')).stderr).toContain(
      "Unknown command 's␛[31m'",
    );
  });
});
