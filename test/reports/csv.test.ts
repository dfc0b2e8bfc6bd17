import { expect, test } from "vitest";
import { cell } from "../../src/reports/csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["  =1+1", "'  =1+1"],
  ["\u00a0@SUM(A1)", "'\u00a0@SUM(A1)"],
  ["-2+3", "'-2+3"],
  ["＝1", "'＝1"],
  ["\t=1", "\"'\t'=1\""],
  ['=HYPERLINK("https://evil.example","x")', `"'=HYPERLINK(""https://evil.example"",""x"")"`],
  ["Rent;=1+1", `"Rent;'=1+1"`],
  ["Rent\n=1+1", `"Rent\n'=1+1"`],
  ["Smith, Jones & Co.", '"Smith, Jones & Co."'],
  ["A-1 Plumbing (24/7) + more", "A-1 Plumbing (24/7) + more"],
  ["", ""],
])("the text %j is written to a CSV cell as %j", (text, written) => {
  expect(cell(text)).toBe(written);
});
