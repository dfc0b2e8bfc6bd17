import { expect, test } from "vitest";
import { UsageError } from "../support/arguments.ts";
import { asked } from "./arguments.ts";

test("seeds are chosen by range, by time or one by one", () => {
  expect(asked(["--seeds", "3..5,9"])).toEqual({
    kind: "many",
    seeds: [3, 4, 5, 9],
    seconds: Infinity,
  });
  expect(asked(["--seconds", "0.5"])).toMatchObject({ kind: "many", seconds: 0.5 });
  expect(asked(["--seed", "7", "--trace", "--without", "2..3"])).toEqual({
    kind: "one",
    seed: 7,
    without: new Set([2, 3]),
    traces: true,
  });
  expect(asked(["--planted"])).toEqual({ kind: "planted", seeds: "1..300" });
  expect(asked(["--planted", "--seeds", "1..9"])).toEqual({ kind: "planted", seeds: "1..9" });
  expect(asked(["--plant=random-key", "--seeds", "1"])).toEqual({ kind: "plant", seeds: [1] });
});

test.each([
  ["", "say what to run"],
  ["1..20", "Unexpected argument '1..20'"],
  ["--sed 7", "Unknown option '--sed'"],
  ["--seeds", "argument missing"],
  ["--seeds 5..1", "“5..1” has its end before its beginning"],
  ["--seeds 1..many", "“1..many” is no number and no range"],
  ["--seeds 1..99999999999", "more than"],
  ["--seed seven", "--seed must be a whole number of at least 0, not “seven”"],
  ["--seed 7 --without x", "--without: “x” is no number"],
  ["--seconds soon", "--seconds must be a number above 0, not “soon”"],
  ["--seconds 0", "--seconds must be a number above 0"],
  ["--seed 7 --seeds 1..3", "--seeds says nothing beside --seed"],
  ["--seeds 1..3 --trace", "--trace says nothing beside --seeds"],
  ["--planted --quarter", "--planted says nothing beside --quarter"],
  ["--plant nothing", "no planted bug “nothing”; there are random-key, "],
  ["--quarter --bills 1", "--bills must be a whole number of at least 2, not “1”"],
  ["--quarter --first-run 2027-02-30", "--first-run must be a date such as 2027-09-30"],
])("an unreadable command line is refused with the mistake: %s", (line, why) => {
  const read = (): unknown => asked(line === "" ? [] : line.split(" "));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(why);
});
