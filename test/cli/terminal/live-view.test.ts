import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { liveView } from "../../../src/cli/terminal/live-view.ts";
import { Output } from "../../../src/cli/terminal/output.ts";
import { typeable } from "../../../src/cli/terminal/typed.ts";

const ESCAPE = String.fromCodePoint(27);
let written = "";

beforeEach(() => {
  written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Makes standard output a terminal of this size, or no terminal if there is no size. */
function terminal(size: { columns: number; rows: number } | undefined): void {
  vi.spyOn(process, "stdout", "get").mockReturnValue(
    Object.assign(Object.create(process.stdout) as typeof process.stdout, {
      ...size,
      isTTY: size !== undefined,
    }),
  );
}

test("in a pipe each change is one line with its time in the business's zone, without repeats", () => {
  terminal(undefined);
  const view = liveView(new Output());
  view.show("paying · 3 planned", "America/Chicago", () => ["whole"]);
  view.show("paying · 3 planned", "America/Chicago", () => ["whole"]);
  view.show("settling · 3 scheduled", "America/Chicago", () => ["whole"]);
  view.end(["whole"]);
  const lines = stripVTControlCharacters(written).trimEnd().split("\n");
  expect(
    lines.map((line) => line.replace(/^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d Chicago {2}/, "")),
  ).toEqual([...["paying · 3 planned", "settling · 3 scheduled", "", "whole"]]);
  expect(written).not.toContain(`${ESCAPE}[J`);
});

test("at a terminal one view is kept up to date and fits the window", () => {
  terminal({ columns: 40, rows: 8 });
  const view = liveView(new Output());
  const tall = Array.from({ length: 20 }, (_, index) => `${index} ${"x".repeat(60)}`);
  view.show("a change", "America/Chicago", () => tall);
  const first = stripVTControlCharacters(written).trimEnd().split("\n");
  expect(first).toHaveLength(8);
  expect(first.at(-2)).toBe("… 34 more lines");
  expect(first.every((line) => line.replace(/^\r/, "").length <= 40)).toBe(true);
  written = "";
  view.show("another", "America/Chicago", () => ["one", "two"]);
  expect(written.startsWith(`${ESCAPE}[8A`)).toBe(true);
  expect(stripVTControlCharacters(written)).toMatch(/one\ntwo\nas of 2\S+ \S+ Chicago/);
  written = "";
  view.end(tall);
  expect(stripVTControlCharacters(written).trim().split("\n")).toEqual(tall);
});

test("at a terminal the view prints commands as they can be typed here", () => {
  terminal({ columns: 200, rows: 24 });
  const said = typeable("payrun show rent");
  expect(said).not.toBe("payrun show rent");
  const view = liveView(new Output());
  view.show("a change", "America/Chicago", () => ["payrun show rent"]);
  view.end(["payrun show rent"]);
  expect(
    stripVTControlCharacters(written)
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual([...[said, expect.stringContaining("as of "), said, ""]]);
});

test("with --json the view prints nothing", () => {
  terminal({ columns: 40, rows: 8 });
  const view = liveView(new Output({ json: true }));
  view.show("a change", "America/Chicago", () => ["whole"]);
  view.end(["whole"]);
  expect(written).toBe("");
});
