/**
 * Whether a stored vendor is still at the service: the states of `vendors.presence`, and what moves a vendor between them. Everything that
 * changes the column takes the next state from here. Pure: who collects the evidence, and who asks the breaker, are its callers.
 *
 *   present   shown by a reading, and nothing contradicts that
 *   suspect   not listed by a complete sweep; nothing is concluded yet
 *   missing   not listed by a second complete sweep either; counts as deleted (`vis_state` 1, inferred)
 *   gone      unknown to the service, by its answer to a read by id
 *
 *   evidence         is                                                                present   suspect   missing   gone
 *   ---------------  ----------------------------------------------------------------  --------  --------  --------  --------
 *   shown            a reading that equals the stored vendor, or is applied to it      present   present   present*  present*
 *   unlisted         a complete sweep that would have listed it did not                suspect   suspect   missing   gone
 *   unlisted_again   a second one, begun when no copy was as old as the first, did     void      missing*  missing   void
 *                    not either
 *   not_found        a read by id answered 404 in the service's error form, or between gone*     gone*     gone*     gone
 *                    two successful reads of listed vendors, twice
 *
 * `*` is a change of the vendor, with a version in its history; the other moves are none. `void`: two sweeps must have missed a vendor one
 * after the other; a reading in between showed it, or it is known to be gone, so the second says nothing.
 *
 * Evidence counts only if its reading is not older than what is stored, nor contradicts a version that is too young (`acceptanceOf`). A sweep
 * counts as evidence only if it is believed, and absences only if the breaker allows them (`isBelieved`, `Breaker`).
 */

export const presences = ['present', 'suspect', 'missing', 'gone'] as const;
export type Presence = (typeof presences)[number];

/** The second proofs of an absence. */
export type AbsenceProof = 'unlisted_again' | 'not_found';
export type PresenceEvidence = 'shown' | 'unlisted' | AbsenceProof;

const moves = {
  shown: { present: 'present', suspect: 'present', missing: 'present', gone: 'present' },
  unlisted: { present: 'suspect', suspect: 'suspect', missing: 'missing', gone: 'gone' },
  unlisted_again: { present: undefined, suspect: 'missing', missing: 'missing', gone: undefined },
  not_found: { present: 'gone', suspect: 'gone', missing: 'gone', gone: 'gone' },
} as const satisfies Record<PresenceEvidence, Record<Presence, Presence | undefined>>;

/** The state after this evidence; undefined where the evidence is void. */
export function nextPresence<P extends Presence, E extends PresenceEvidence>(
  presence: P,
  evidence: E,
): (typeof moves)[E][P] {
  return moves[evidence][presence];
}

/** Whether the vendor is agreed not to be at the service: becoming absent, and returning, are changes of the vendor. */
export function isAbsent(presence: Presence): presence is 'missing' | 'gone' {
  return presence === 'missing' || presence === 'gone';
}

/** A stored vendor that the lists of a complete sweep did not show. */
export interface UnlistedState {
  readonly presence: Presence;
  readonly visState: number | null;
  /** It was read since the sweep began, or is stored too recently to be contradicted by it. */
  readonly isRecent: boolean;
  /** Whether the lists showed deleted vendors. */
  readonly showsDeleted: boolean;
}

/**
 * What it means that a complete sweep did not list a stored vendor:
 *
 *   presence          `vis_state`  further condition              means
 *   ----------------  -----------  -----------------------------  -------------------------------------------------------
 *   missing, gone     any                                         absent: read again now and then, so that an error heals
 *   present, suspect  any          is recent                      recent: the sweep says nothing about it
 *   present           1            no list shows deleted vendors  hidden: no list would show it; read by id in turn
 *   present, suspect  any                                         suspect: it is `unlisted`
 */
export function meaningOfUnlisted(vendor: UnlistedState): 'absent' | 'recent' | 'hidden' | 'suspect' {
  const { presence, visState, isRecent, showsDeleted } = vendor;
  if (isAbsent(presence)) return 'absent';
  if (isRecent) return 'recent';
  return presence === 'present' && visState === 1 && !showsDeleted ? 'hidden' : 'suspect';
}
