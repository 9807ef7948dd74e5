/** Asks the daemon for what a person wants, once they have confirmed it. */

export function offerActions(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#confirm');
  if (!dialog) return;
  let wanted: HTMLElement | undefined;
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-action]') : null;
    if (button) openDialog(dialog, (wanted = button));
  });
  dialog.querySelector('[data-close]')?.addEventListener('click', () => dialog.close(''));
  dialog.addEventListener('close', () => {
    if (dialog.returnValue === 'yes' && wanted) void ask(wanted, numberIn(dialog));
    // The page may have exchanged the button meanwhile.
    document.getElementById(wanted?.id ?? '')?.focus();
    wanted = undefined;
  });
}

function openDialog(dialog: HTMLDialogElement, button: HTMLElement): void {
  const { words = '', number = '' } = button.dataset;
  const put = (id: string, text: string): void => dialog.querySelector(id)?.replaceChildren(text);
  put('#confirm-title', button.textContent.trim());
  put('#confirm-words', words);
  const label = dialog.querySelector<HTMLElement>('#confirm-number');
  const input = label?.querySelector('input');
  if (label && input) {
    label.hidden = number === '';
    input.disabled = number === '';
    input.required = number !== '';
    input.value = number;
  }
  dialog.returnValue = '';
  dialog.showModal();
}

function numberIn(dialog: HTMLDialogElement): number | undefined {
  const input = dialog.querySelector('input');
  return input && !input.disabled ? input.valueAsNumber : undefined;
}

/** Sends the request, and shows its outcome below the buttons. */
async function ask(button: HTMLElement, absences: number | undefined): Promise<void> {
  const { action = '', account } = button.dataset;
  showOutcome('Sending the request …');
  try {
    const response = await fetch(`./api/actions/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account, ...(absences !== undefined && { absences }) }),
    });
    const { message } = (await response.json()) as { message?: string };
    showOutcome(message ?? `The daemon answered with status ${response.status}.`);
  } catch {
    showOutcome('The daemon did not answer correctly. Check that it is running, and try again.');
  }
}

function showOutcome(words: string): void {
  document.querySelector('#outcome')?.replaceChildren(words);
}
