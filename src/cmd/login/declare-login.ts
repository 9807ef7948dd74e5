/** The commands that get access to the service, and delete it. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

const connection = 'one of `connections` in the settings; default: service.auth';

export function declareLogin(program: Command, lazy: LazyAction): void {
  program
    .command('login')
    .argument('[connection]', connection)
    .summary('get access by OAuth in a browser')
    .description(
      paragraphs(
        'Prints an address where you allow vendor-mirror to read the accounts, and stores the tokens in the secrets file. A running daemon uses them the next time it needs a token.',
        'If oauth.redirectUri is an http address of this machine, the command waits there for the browser. Otherwise, paste the address to which the browser was sent.',
        'Without a settings file, --base-url, --client-id and --account name the service, and login writes one: the file of -c, or else mirror.yaml in this folder. It never changes a file that exists.',
      ),
    )
    .option('--base-url <url>', 'for a new settings file: the address of the service')
    .option('--client-id <id>', 'for a new settings file: the id of your application at the service')
    .option('--client-secret-file <path>', 'the file with its secret; without it, you are asked')
    .option('--authorize-url <url>', 'where access is allowed (default: BASE/auth/oauth/authorize)')
    .option('--token-url <url>', 'where tokens come from (default: BASE/auth/oauth/token)')
    .option('--redirect-uri <url>', 'as registered at the service (default: http://127.0.0.1:8789/callback)')
    .option('--public-url <url>', 'where the service reaches port 8787 of this machine, for webhooks')
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror login -c mirror.yaml'],
        ['vendor-mirror login main', 'for one of several connections'],
        ['vendor-mirror login --base-url https://api.example.com --client-id 8b1a --account 6BApk'],
      ),
    )
    .action(lazy(async () => (await import('./login.ts')).login));
  program
    .command('logout')
    .argument('[connection]', connection)
    .summary('delete the tokens of login')
    .description(
      paragraphs(
        'Deletes the tokens that `login` stored. The mirror is not changed.',
        'A running daemon keeps using its token until that expires, or until it gets SIGHUP.',
      ),
    )
    .action(lazy(async () => (await import('./logout.ts')).logout));
}
