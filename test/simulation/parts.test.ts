import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { planted } from "./planting.ts";
import { PLANTS } from "./plants/plants.ts";
import { fromRanges, toRanges } from "./ranges.ts";
import { Heap } from "./world/heap.ts";
import { Stream } from "./world/random.ts";

test("the earliest due event comes first, and of equal instants the one created first", () => {
  const heap = new Heap<{ readonly atMs: number; readonly number: number }>();
  for (const [number, atMs] of [30, 10, 20, 10, 30, 5].entries()) heap.add({ atMs, number });
  const taken: number[] = [];
  for (let due = heap.take(); due !== undefined; due = heap.take()) taken.push(due.number);
  expect(taken).toEqual([5, 1, 3, 2, 0, 4]);
});

test("a random stream depends only on its seed and name", () => {
  const five = (stream: Stream) => Array.from({ length: 5 }, () => stream.next());
  expect(five(new Stream(7, "order"))).toEqual(five(new Stream(7, "order")));
  expect(five(new Stream(7, "order"))).not.toEqual(five(new Stream(7, "people")));
  expect(five(new Stream(8, "order"))).not.toEqual(five(new Stream(7, "order")));
});

test("numbers are written as ranges and read back", () => {
  expect(toRanges([4, 1, 2, 3, 9])).toBe("1..4,9");
  expect(fromRanges("1..4,9")).toEqual([1, 2, 3, 4, 9]);
  expect(() => fromRanges("x")).toThrow("no number");
});

test("a planted bug that no longer replaces anything fails", () => {
  const plant = { name: "p", file: "f.ts", replaces: "gone", make: () => () => null };
  expect(() => planted("export function here(): void {}\n", plant)).toThrow("f.ts exports no gone");
  const made = planted("export function gone(): number { return 1; }\n", plant);
  expect(made).toContain("function real_gone(): number");
});

test.each(PLANTS.map((plant) => [plant.name, plant] as const))(
  "the planted bug %s replaces an existing export",
  (_, plant) => {
    const source = readFileSync(new URL(`../../${plant.file}`, import.meta.url), "utf8");
    expect(planted(source, plant)).toContain(`real_${plant.replaces}`);
  },
);
