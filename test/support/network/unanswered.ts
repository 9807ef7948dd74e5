/** A request that is never answered: it ends when the one who sent it gives up. */
export function unanswered({ signal }: RequestInit = {}): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
