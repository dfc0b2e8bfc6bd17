import { expect, test } from "vitest";
import { readDuration, readEnd } from "../../../src/cli/terminal/duration.ts";

const HOUR_MS = 3_600_000;

test("a duration can be written in short or in ISO 8601", () => {
  const read = (text: string) => readDuration(text, "--advance") / HOUR_MS;
  expect(["3d", "P3D", "72h", "PT72H"].map(read)).toEqual([72, 72, 72, 72]);
  expect(["6h", "PT6H", "PT360M", "PT5H60M"].map(read)).toEqual([6, 6, 6, 6]);
  expect(["2w", "P2W", "P1DT12H", "PT90S"].map(read)).toEqual([336, 336, 36, 0.025]);
});

test("an invalid duration is refused with the valid forms", () => {
  for (const text of ["", "P", "PT", "P1DT", "P0D", "0d", "P1M", "P1Y", "3", "soon", "-P1D"]) {
    expect(() => readDuration(text, "--advance"), text).toThrow(
      `--advance must be a duration: 90s, 10m, 6h, 3d or 2w, or in ISO 8601 such as P3D, PT6H or P1DT12H; not “${text}”`,
    );
  }
});

test("an end that is neither a date nor a duration is refused with the forms of both", () => {
  expect(() => readEnd("10", "--expires", 0)).toThrow(
    "--expires must be a date, such as 2026-12-31, or a duration: 90s, 10m",
  );
});
