/** What a person may ask the daemon to do about an account; where there is nothing to be asked, why. */
import { counted } from '../../domain/size.ts';
import type { AccountHealth } from '../../health/judge.ts';
import { noTokenMessage } from '../api/actions-api.ts';
import { html, sentence, type Html } from './html.ts';

interface Button {
  readonly action: 'sync' | 'reconcile' | 'retry' | 'approve';
  readonly name: string;
  /** What the action does, shown in its confirmation. */
  readonly words: string;
  /** A number that the person has to confirm, too. */
  readonly number?: number;
}

export function actionSection(health: AccountHealth, mayAct: boolean): Html | null {
  const { account, isLeft } = health.facts;
  if (isLeft) return null;
  return html`<section id="actions" aria-labelledby="actions-title">
    <h2 id="actions-title">Actions</h2>
    ${
      !health.isServed
        ? html`<p class="soft">${sentence(`Paused: \`vendor-mirror accounts resume ${account}\` comes first.`)}</p>`
        : mayAct
          ? html`<p class="buttons">${buttonsOf(health).map((button) => buttonHtml(button, account))}</p>
              <p id="outcome" role="status" data-own></p>`
          : html`<p class="soft">${sentence(noTokenMessage)}</p>`
    }
  </section>`;
}

function buttonHtml({ action, name, words, number }: Button, account: string): Html {
  return html`<button
    type="button"
    id="ask-${action}"
    data-action="${action}"
    data-account="${account}"
    data-words="${words}"
    data-number="${number ?? ''}"
  >
    ${name}
  </button>`;
}

/** What helps only sometimes is offered only then. */
function buttonsOf({ facts, error }: AccountHealth): Button[] {
  const { account, queue, findings, runs } = facts;
  const isTripped = error?.code === 'breaker_tripped' || findings.some(({ kind }) => kind === 'breaker');
  const absent = (error?.run ?? runs[0])?.suspects ?? 0;
  return [
    {
      action: 'reconcile',
      name: 'Reconcile now',
      words: `Reads the whole list of ${account} and records every difference. Nothing is written to the service.`,
    },
    {
      action: 'sync',
      name: 'Pull everything now',
      words: `Reads the whole list of ${account}. Nothing is written to the service.`,
    },
    ...(queue.parked > 0
      ? [
          {
            action: 'retry',
            name: 'Retry parked vendors',
            words: `Reads ${counted(queue.parked, 'vendor')} of ${account} again that could not be read.`,
          } as const,
        ]
      : []),
    ...(isTripped
      ? [
          {
            action: 'approve',
            name: 'Approve absences',
            words: `The list of ${account} does not show many vendors that the mirror holds. Check the service first. Then up to this many are marked gone, if reading each one confirms it.`,
            number: Math.max(1, absent),
          } as const,
        ]
      : []),
  ];
}
