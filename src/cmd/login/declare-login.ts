/** The commands that get, keep and forget the service's consent. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

const connection = 'one of `connections` in the settings; service.auth unless told';

export function declareLogin(program: Command, does: Does): void {
  program
    .command('login')
    .argument('[connection]', connection)
    .summary('get access by OAuth, in a browser')
    .description(
      paragraphs(
        'Prints an address where a person allows vendor-mirror to read the accounts, and keeps the tokens that follow with the secrets. A running daemon uses them from its next request for a token on.',
        'Where oauth.redirectUri is an http address of this machine, the command waits there for the browser. Elsewhere the person pastes the address to which the browser was sent.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror login -c mirror.yaml', 'vendor-mirror login main']))
    .action(does(async () => (await import('./login.ts')).login));
  program
    .command('logout')
    .argument('[connection]', connection)
    .summary('forget the tokens of login')
    .description(
      paragraphs(
        'Forgets the tokens that `login` got. What the mirror holds stays.',
        'A running daemon goes on with the token that it has until that ends, or until it gets SIGHUP.',
      ),
    )
    .action(does(async () => (await import('./logout.ts')).logout));
}
