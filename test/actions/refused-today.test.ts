import { expect, test } from "vitest";
import { RefusedToday, Repeats } from "../../src/actions/refused-today.ts";

const DAY_MS = 86_400_000;

function written(repeats: Repeats, key: string, times: number, atMs = 0): number[] {
  return Array.from({ length: times }).flatMap(() => repeats.note(key, atMs)?.times ?? []);
}

test("endless repeats are written down at powers of ten, and the count starts again each day", () => {
  const repeats = new Repeats();
  expect(written(repeats, "a", 1_234)).toEqual([1, 10, 100, 1_000]);
  expect(written(repeats, "b", 12)).toEqual([1, 10]);
  expect(written(repeats, "a", 2, DAY_MS)).toEqual([1]);
});

test("beyond a number of keys all others are counted together, and the first ones still separately", () => {
  const repeats = new Repeats(2);
  expect(repeats.note("a", 0)).toEqual({ key: "a", times: 1 });
  expect(repeats.note("b", 0)).toEqual({ key: "b", times: 1 });
  expect(repeats.note("c", 0)).toEqual({ key: "others", times: 1 });
  for (let each = 0; each < 8; each += 1) expect(repeats.note(`d${each}`, 0)).toBeUndefined();
  expect(repeats.note("e", 0)).toEqual({ key: "others", times: 10 });
  expect(written(repeats, "a", 9)).toEqual([10]);
});

test("10,000 refusals are written down at most 100 times, however many tokens and kinds share them", () => {
  const refused = new RefusedToday();
  let entries = 0;
  for (let at = 0; at < 10_000; at += 1) {
    const key = `kind ${at % 9}`;
    const repeats = [
      ...[refused.unknown, refused.ended, refused.webhooks],
      ...["ada", "bea", "cora", "dan"].map((token) => refused.of(token)),
    ];
    if (repeats[at % repeats.length]?.note(key, 0) !== undefined) entries += 1;
  }
  expect(entries).toBeGreaterThan(50);
  expect(entries).toBeLessThanOrEqual(100);
  // A new name is in the trail, whatever others have tried.
  expect(refused.of("eve").note("kind 1", 0)).toEqual({ key: "kind 1", times: 1 });
  expect(refused.of("ada").note("kind 1", DAY_MS)).toEqual({ key: "kind 1", times: 1 });
});
