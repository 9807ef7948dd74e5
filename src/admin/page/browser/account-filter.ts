/** Hides the accounts that do not contain what is typed; the page is exchanged every second, so they are hidden again then. */

/** @returns what hides them once the page was exchanged */
export function filterAccounts(): () => void {
  const apply = (): void => {
    const wanted = document.querySelector<HTMLInputElement>('#account-filter')?.value.trim().toLowerCase() ?? '';
    for (const row of document.querySelectorAll<HTMLElement>('#account-list tbody tr'))
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
  };
  document.querySelector('#account-filter')?.addEventListener('input', apply);
  return apply;
}
