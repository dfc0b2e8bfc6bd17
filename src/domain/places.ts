/** How much of one kind of work a process does at once. */
interface Pool {
  readonly places: number;
  /**
   * The most of them that one business has, and as many are kept for businesses that have none: a
   * service that hangs, drips or never ends holds up no other business.
   */
  readonly share: number;
}

/** The kinds of work, and how much of each a process does at once. */
export const POOLS = {
  /** What people wait for: decisions, cancels, where each workflow stands. */
  steps: { places: 96, share: 32 },
  /** Lanes and deposits. */
  money: { places: 39, share: 13 },
  /** Failed payments. */
  retries: { places: 24, share: 8 },
  /** Reading payments page by page. */
  following: { places: 24, share: 8 },
  /** Plans, which keep facts of all bills of a business in memory: there is room for one endless list. */
  planning: { places: 12, share: 1 },
} as const satisfies Readonly<Record<string, Pool>>;

export type PoolName = keyof typeof POOLS;

/** The most steps of a business that wait for a place in a pool, for each place that it may have. */
export const WAITING_FOR_A_PLACE = 8;

/**
 * True if a business may have another place.
 *
 * @param held how many places each business has; those without any are missing
 */
export function mayTakePlace(
  { places, share }: Pool,
  held: ReadonlyMap<string, number>,
  business: string,
): boolean {
  const free = places - [...held.values()].reduce((sum, count) => sum + count, 0);
  const own = held.get(business) ?? 0;
  if (own === 0) return free > 0;
  return own < share && free > share;
}
