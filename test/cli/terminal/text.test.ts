import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";

import { remarkLines } from "../../../src/cli/show/conditions.ts";
import {
  assumeColumns,
  fitted,
  fitting,
  textTable,
  wrapped,
} from "../../../src/cli/terminal/text.ts";

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
const ESCAPE = String.fromCodePoint(27);

test("a long sentence becomes lines of whole words that fit, indented after the first", () => {
  const lines = wrapped(`  ${words}`);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(98);
  expect(lines[0]).toMatch(/^ {2}word0 /);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}word/);
  expect(lines.join(" ").trim().split(/ +/)).toEqual(words.split(" "));
  expect(wrapped("short")).toEqual(["short"]);
});

test("a terminal that doesn't say its size has 80 columns, and nothing else changes", () => {
  const columnsOf = (columns?: number) => {
    const terminal: { columns?: number } = columns === undefined ? {} : { columns };
    assumeColumns(terminal);
    return terminal.columns;
  };
  expect([columnsOf(0), columnsOf(132), columnsOf()]).toEqual([80, 132, undefined]);
});

test("a long line is cut with an ellipsis; its colors don't count and are reset", () => {
  const coloured = `${ESCAPE}[33mnew-vendor${ESCAPE}[39m: ${words}`;
  const cut = fitted(coloured);
  const shown = cut.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), "");
  expect(shown).toHaveLength(98);
  expect(shown).toMatch(/^new-vendor: word0 .*…$/);
  expect(cut.endsWith(`${ESCAPE}[0m`)).toBe(true);
  expect(fitted("short")).toBe("short");
});

describe("a table", () => {
  const columns = [
    { title: "Bill" },
    { title: "Amount", align: "right" },
    { title: "Why" },
  ] as const;
  const rows = [
    ["Osprey Robotics BILL-000115", "$24,511.62", "The bill's status in the service is declined."],
    ["One BILL-1", "$1.00", "paid"],
  ];
  const shown = (width: number | undefined, as: Parameters<typeof textTable> = [columns, rows]) => {
    vi.spyOn(process, "stdout", "get").mockReturnValue(
      Object.assign(Object.create(process.stdout) as typeof process.stdout, { columns: width }),
    );
    return textTable(...as).map(stripVTControlCharacters);
  };
  afterEach(() => vi.restoreAllMocks());

  test("a table that is not written to a terminal has one line a row", () => {
    expect(shown(undefined)).toHaveLength(3);
  });

  test("a table that fits the terminal is not changed", () => {
    expect(shown(120)).toEqual(shown(undefined));
  });

  test("a table that is too wide wraps its texts within their column", () => {
    expect(shown(72)).toEqual([
      "Bill                             Amount  Why",
      "Osprey Robotics BILL-000115  $24,511.62  The bill's status in the",
      "                                         service is declined.",
      "One BILL-1                        $1.00  paid",
    ]);
  });

  test("a table without room for its texts gives them lines of their own", () => {
    expect(shown(44)).toEqual([
      "Bill                             Amount",
      "    Why",
      "Osprey Robotics BILL-000115  $24,511.62",
      "    The bill's status in the service is",
      "    declined.",
      "One BILL-1                        $1.00",
      "    paid",
    ]);
  });

  test("a table of sums truncates its names, never its sums", () => {
    const sums = [{ title: "Vendor" }, { title: "Out", align: "right" }] as const;
    const long = [["A vendor with a very long name indeed, Inc.", "$1,234,567.89"]];
    const lines = shown(40, [sums, long]);
    expect(lines.every((line) => line.length <= 38)).toBe(true);
    expect(lines[1]).toMatch(/^A vendor with a very .*… {2}\$1,234,567\.89$/);
  });

  test("a narrow table truncates only names, never a number, amount or id", () => {
    const plan = ["Pays", "Amount", "Due", "Executes", "Arrives"].map((title) => ({ title }));
    const bill = [
      "Harrow & Finch Cleaning of Bushwick BILL-000115",
      ...["$124,511.62", "2026-11-30", "2026-11-27", "2026-12-01"],
    ];
    const sessions = Array.from({ length: 6 }, (_, index) => ({ title: `Column ${index}` }));
    const session = ["ses_0123456789abcdef01", "Cora Controller", "link", "tok_0123456789abcdef01"];
    const times = ["until Thu, Nov 26, 11:30 AM New York", "Thu, Nov 26, 10:30 AM New York"];
    const run = ["pay-run/sandbox/small-bills-next-day/2026-11-26", "awaiting-approval", "$1.00"];
    for (const width of [80, 60, 44]) {
      for (const [of, row] of [
        [plan, bill],
        [sessions, [...session, ...times]],
        [plan.slice(0, 3), run],
      ] as const) {
        const lines = shown(width, [of, [row]]);
        const text = lines.join(" ").replaceAll(/ +/g, " ");
        for (const word of row.join(" ").match(/\S*\d\S*/g) ?? []) expect(text).toContain(word);
        for (const line of lines) {
          expect(line.length <= width - 2 || !line.trim().includes(" "), line).toBe(true);
        }
      }
    }
    const waits = shown(80, [[...plan, { title: "Waits for" }], [[...bill, "the controller"]]]);
    expect(waits.slice(-2)).toEqual([
      "Harrow & Finch C… BILL-000115  $124,511.62  2026-11-30  2026-11-27  2026-12-01",
      "    the controller",
    ]);
    expect(shown(80, [plan, [bill]])[1]).toMatch(/^Harrow .*… BILL-000115 {2}\$124,511\.62 /);
  });

  test("a narrow table doesn't truncate a column that is marked as whole", () => {
    const rows = [
      ["PAYMENTS_NOTIFY_WEBHOOK_SECRET", "none", "secrets that sign what it is told, by commas"],
      ["PAYRUN_GATEWAY_CONNECTIONS_PER_ADDRESS", "500", "connections from one address"],
    ];
    const text = shown(60, [[{ whole: true }, {}, {}], rows]).join("\n");
    for (const [name = ""] of rows) expect(text).toContain(name);
  });

  test("sentences wrap at words on a terminal only", () => {
    const sentence =
      "Left out (39 bills): 32 paid already, 4 not due yet, 3 in the hands of another run";
    shown(60);
    expect(fitting([sentence]).length).toBe(2);
    shown(undefined);
    expect(fitting([sentence])).toEqual([sentence]);
  });

  test("remarks of status and doctor wrap at words with an indent, on a terminal only", () => {
    shown(60);
    const lines = remarkLines("!", words, words).map(stripVTControlCharacters);
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines[0]).toMatch(/^! word0 /);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2,4}word/);
    shown(undefined);
    expect(remarkLines("!", words, words)).toHaveLength(2);
  });
});
