/**
 * Whether a stored vendor is still at the service: the states of `vendors.presence`, the evidence that moves a vendor between them, and what
 * lists can show. Everything that changes the column takes the next state from here. Pure: who collects the evidence, and who asks the
 * breaker, are its callers.
 *
 *   state     means                                                      since (mirror time)
 *   --------  ---------------------------------------------------------  -------------------------------------------------------
 *   present   shown by a reading, and nothing contradicts that           nothing
 *   suspect   one proof of its absence; nothing is concluded yet         the end of that proof; of several, of that which ended first
 *   missing   two proofs, the second a sweep; counts as deleted          when it was concluded; 0 where a person approved it
 *             (`vis_state` 1, inferred)
 *   gone      two proofs, the second a read by id                        the same
 *
 * Evidence has a power and a moment. Power: the request could have shown the vendor, and did not. Moment: from the number and the begin of
 * the request to its end. Of two proofs, the second begins `sync.lag` or more after the end of the first, whichever process asked: no copy of
 * the service that gave the one is still as old when it gives the other.
 *
 *   evidence    is                                                  present   suspect: too soon   suspect: later   missing   gone
 *   ----------  --------------------------------------------------  --------  ------------------  ---------------  --------  --------
 *   shown       a reading that equals the vendor or is applied      present   present             present          present*  present*
 *   unlisted    a complete sweep, not empty, of lists that show     suspect   suspect             missing*         missing   gone
 *               vendors of its state, did not list it
 *   not_found   a read by id answered 404 or 410 in the service's   suspect   suspect             gone*            gone*     gone
 *               error form; or in another form twice, between
 *               successful reads of listed vendors
 *   withdrawn   the lists of the first proof turned out not to      present   present             present          missing   gone
 *               show vendors of its state
 *
 * `*` is a change of the vendor, with a version in its history; the other moves are none. Evidence counts only if its reading is not older
 * than what is stored, nor contradicts a version that is too young (`acceptanceOf`), and absences only if the breaker allows them.
 *
 * A refused read (401, 403) is no evidence: the token may not see the vendor, so no list could have shown it either.
 */

export const presences = ['present', 'suspect', 'missing', 'gone'] as const;
export type Presence = (typeof presences)[number];

/** A vendor's state, and since when, as the table above says. */
export interface PresenceState {
  readonly presence: Presence;
  readonly since: number | null;
}

/** A request, or a whole sweep, that could have shown a vendor and did not. Moments of mirror time, in milliseconds. */
export interface AbsenceEvidence {
  readonly kind: 'unlisted' | 'not_found';
  readonly begun: number;
  readonly ended: number;
}

export type PresenceEvidence = { readonly kind: 'shown' | 'withdrawn' } | AbsenceEvidence;

/** The state after this evidence. @param lag how long, in milliseconds, the service may answer from an old copy */
export function nextPresence(before: PresenceState, evidence: PresenceEvidence, lag: number): PresenceState {
  if (!('begun' in evidence)) {
    const stays = evidence.kind === 'withdrawn' && isAbsent(before.presence);
    return stays ? before : { presence: 'present', since: null };
  }
  const { kind, begun, ended } = evidence;
  const concluded = kind === 'unlisted' ? 'missing' : 'gone';
  switch (before.presence) {
    case 'present':
      return { presence: 'suspect', since: ended };
    case 'suspect':
      // A suspect of an earlier version carries no moment: this evidence is its first proof.
      if (before.since === null) return { presence: 'suspect', since: ended };
      if (begun >= before.since + lag) return { presence: concluded, since: ended };
      // Two runs at once: the second proof of either is later than the proof that ended first.
      return { presence: 'suspect', since: Math.min(before.since, ended) };
    case 'missing':
      return concluded === 'gone' ? { presence: 'gone', since: before.since } : before;
    case 'gone':
      return before;
  }
}

/** Whether the vendor is agreed not to be at the service: becoming absent, and returning, are changes of the vendor. */
export function isAbsent(presence: Presence): presence is 'missing' | 'gone' {
  return presence === 'missing' || presence === 'gone';
}

/** A stored vendor that the lists of a complete sweep did not show. */
export interface UnlistedState {
  readonly presence: Presence;
  /** It was read since the sweep began, or is stored too recently to be contradicted by it. */
  readonly isRecent: boolean;
  /** Whether the lists of the sweep show vendors of its state. */
  readonly isShown: boolean;
}

/**
 * What it means that a complete sweep did not list a stored vendor:
 *
 *   presence          further condition          means
 *   ----------------  -------------------------  -------------------------------------------------------------
 *   missing, gone                                absent: read again now and then, so that an error heals
 *   present, suspect  is recent                  recent: the sweep says nothing about it
 *   present, suspect  lists do not show its state  hidden: no list would show it; read by id in turn
 *   present, suspect                             suspect: it is `unlisted`
 */
export function meaningOfUnlisted({
  presence,
  isRecent,
  isShown,
}: UnlistedState): 'absent' | 'recent' | 'hidden' | 'suspect' {
  if (isAbsent(presence)) return 'absent';
  if (isRecent) return 'recent';
  return isShown ? 'suspect' : 'hidden';
}

/** What a complete sweep showed of the stored vendors of one `vis_state`. */
export interface StateListing {
  readonly shown: number;
  readonly leftOut: number;
  /** Of those left out: how many a read by id then showed as they are stored. */
  readonly found: number;
}

/** One row, or two, teach nothing: a service may show a vendor that has just changed its state a little longer. */
const enough = 3;

/**
 * Whether lists show all vendors of a state. Active vendors (0) are shown. For each other state, and for vendors without one, it is learned
 * for each account:
 *
 *   until now  a complete sweep                                         from then on
 *   ---------  -------------------------------------------------------  ------------
 *   hidden     showed three or more, and left out none of the mirror's  shown
 *   shown      left out three or more that reads by id found            hidden
 *   shown      left out one that reads by id found, as the one before   hidden
 *
 * A list that drops vendors of a state after a while shows some of them all the time: so what it leaves out decides, not what it shows.
 */
export function isStateShown(isShown: boolean, { shown, leftOut, found }: StateListing): boolean {
  return isShown ? found < enough : shown >= enough && leftOut === 0;
}
