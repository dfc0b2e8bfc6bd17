import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ALL_ERROR_CODES, ERROR_CODES } from "../../src/contracts/error-codes.ts";

const page = readFileSync(new URL("../../docs/codes.md", import.meta.url), "utf8");

test("docs/codes.md has the table of error codes as the gateway knows them", () => {
  const [, part = ""] = /^## Error codes\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(page) ?? [];
  const rows = ALL_ERROR_CODES.map((code) => {
    const { status, means, remedy } = ERROR_CODES[code];
    return `| \`${code}\` | ${status} | ${means} | ${remedy} |`;
  });
  const found = part
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .slice(1);
  expect(found).toEqual(rows);
});

test("every error code has one spelling, snake_case, and says what it means and what to do", () => {
  for (const code of ALL_ERROR_CODES) {
    const { status, means, remedy } = ERROR_CODES[code];
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeOneOf([400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504]);
    for (const text of [means, remedy]) expect(text, code).toMatch(/^[A-Z`].*\.$/);
  }
});
