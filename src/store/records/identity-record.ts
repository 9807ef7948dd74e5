/** The identity of a mirror, and the service it belongs to. */

export interface Identity {
  /** A random id from when the file was created. */
  readonly mirrorId: string;
  /** The service that the mirror belongs to; null until one has answered. */
  readonly service: string | null;
}
