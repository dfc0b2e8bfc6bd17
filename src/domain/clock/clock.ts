/** Real time that people get in any case, though a sandbox's clock may run fast or be stepped. */
export const PEOPLE_MIN_MS = 60_000;

/**
 * What a business's clock shows at one moment, and how it goes on from there. Only the clock itself
 * knows that a sandbox's days may pass in seconds.
 */
export interface Clock {
  /** Due dates, cut-offs, execution, settlement, approval expiry. */
  readonly businessMs: number;
  readonly realMs: number;
  /**
   * The zone in which the business's people are shown times; New York's unless its profile names
   * one.
   */
  readonly zone?: string | undefined;
  /**
   * The least real time that people get, however soon a deadline comes; 0 if the clock runs no
   * faster than they do.
   */
  readonly peopleMinMs: number;
  /** Returns the real milliseconds until an instant of the business clock; below 0 if it has passed. */
  realMsUntil(businessMs: number): number;
  /** Returns what the business clock shows so many real milliseconds later, or earlier. */
  afterRealMs(realMs: number): number;
  /**
   * Returns how soon to look again, in real milliseconds: as given if the service is a real one,
   * sooner if it is a sandbox, whose clocks may be moved.
   */
  soonerMs(realMs: number): number;
}
