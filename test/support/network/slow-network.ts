/** A network on which answers can be held back: the service has given them, and they are still on their way. */
import { unanswered } from './unanswered.ts';

type Fetch = typeof globalThis.fetch;

export interface SlowNetwork {
  /** Wraps a fetch. */
  readonly network: (fetch: Fetch) => Fetch;
  /** Holds back, from now on, the answers to such requests. */
  readonly hold: (isHeld: (url: URL) => boolean) => void;
  /** Lets all go that are held. */
  readonly letGo: () => void;
}

export function slowNetwork(): SlowNetwork {
  let isHeld: (url: URL) => boolean = () => false;
  let open = (): void => undefined;
  let gate = Promise.resolve();
  const letGo = (): void => {
    isHeld = () => false;
    open();
  };
  return {
    network: (fetch) => async (input, init) => {
      const answer = await fetch(input, init);
      if (isHeld(new URL(input instanceof Request ? input.url : input))) await Promise.race([gate, unanswered(init)]);
      return answer;
    },
    hold(which) {
      letGo();
      isHeld = which;
      gate = new Promise((resolve) => (open = resolve));
    },
    letGo,
  };
}

/** Whether a request is for a page of the vendor list. */
export function isPage(url: URL): boolean {
  return url.pathname.endsWith('/bill_vendors');
}
