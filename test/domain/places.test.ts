import { expect, test } from "vitest";
import { mayTakePlace, POOLS } from "../../src/domain/places.ts";

/** Lets each business take as many places as it may get, one business after the other. */
function fill(pool: (typeof POOLS)[keyof typeof POOLS], businesses: readonly string[]) {
  const held = new Map<string, number>();
  for (const business of businesses) {
    while (mayTakePlace(pool, held, business)) held.set(business, (held.get(business) ?? 0) + 1);
  }
  return held;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `b${at}`);

for (const [name, pool] of Object.entries(POOLS)) {
  test(`no business has more than a third of the places of ${name}`, () => {
    expect(pool.share).toBeLessThanOrEqual(pool.places / 3);
    expect(fill(pool, ["alone"]).get("alone")).toBe(pool.share);
  });

  test(`however much four businesses do, others find a place of ${name}`, () => {
    const held = fill(pool, names(4));
    expect(mayTakePlace(pool, held, "sound")).toBe(true);
    const taken = [...held.values()].reduce((sum, count) => sum + count, 0);
    expect(pool.places - taken).toBeGreaterThanOrEqual(Math.min(pool.share - 2, 2));
  });

  test(`never are more places of ${name} taken than there are`, () => {
    const held = fill(pool, names(pool.places + 5));
    expect([...held.values()].reduce((sum, count) => sum + count, 0)).toBe(pool.places);
  });
}
