/** The commands that get, keep and forget the service's consent. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

const connection = 'one of `connections` in the settings; default: service.auth';

export function declareLogin(program: Command, does: Does): void {
  program
    .command('login')
    .argument('[connection]', connection)
    .summary('get access by OAuth in a browser')
    .description(
      paragraphs(
        'Prints an address where you allow vendor-mirror to read the accounts, and stores the tokens in the secrets file. A running daemon uses them the next time it needs a token.',
        'If oauth.redirectUri is an http address of this machine, the command waits there for the browser. Otherwise, paste the address to which the browser was sent.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror login -c mirror.yaml', 'vendor-mirror login main']))
    .action(does(async () => (await import('./login.ts')).login));
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
    .action(does(async () => (await import('./logout.ts')).logout));
}
