import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { givenToNpx, typeable } from "../../../src/cli/terminal/typed.ts";
import { shellWord } from "../../../src/domain/shell-word.ts";
import { onHoldText } from "../../../src/domain/holds.ts";
import { temporaryFolder } from "../cli.ts";

test("a plain name or path is printed as it is", () => {
  for (const text of ["olga", "ann.b@example.com", "/opt/pay-run_1", "rent/2026-11-26"]) {
    expect(shellWord(text)).toBe(text);
  }
});

test.skipIf(process.platform === "win32")("a shell reads each text back as one word", () => {
  for (const text of [
    "Osprey Robotics",
    'The "Grand" $HOME',
    "`id`",
    "back\\slash",
    "O'Hara",
    "",
  ]) {
    const command = `printf %s ${shellWord(text)}`;
    expect(execFileSync("sh", ["-c", command], { encoding: "utf8" }), command).toBe(text);
  }
});

test("a word's control characters are never printed", () => {
  expect(shellWord(`a${String.fromCodePoint(27)}[2Jb`)).toBe('"a·[2Jb"');
});

test("a hold that Payrun itself has set is not printed as a command", () => {
  const text = onHoldText({
    author: "payrun",
    authorKind: "system",
    reason: "Its owner was terminated in Temporal.",
  });
  expect(typeable(text, "/")).toBe(text);
  expect(typeable("payrun release HOLD_ID", "/")).toMatch(/payrun release HOLD_ID$/);
});

test("a text that can be typed already stays as it is", () => {
  const once = typeable("“payrun worker” or “payrun up”", "/");
  expect(typeable(once, "/")).toBe(once);
});

test("a cancellation that Payrun itself has asked for is not printed as a command", () => {
  const text = "payrun has asked to cancel its payment: The vendor's bank account changed";
  expect(typeable(text, "/")).toBe(text);
});

test("a colored command is given its prefix for npx as a plain one is", () => {
  const escape = String.fromCodePoint(27);
  const plain = typeable("payrun show rent", "/");
  expect(plain).not.toBe("payrun show rent");
  expect(typeable(`${escape}[2mpayrun show rent${escape}[22m`, "/")).toBe(
    `${escape}[2m${plain}${escape}[22m`,
  );
});

/** Makes a program's folder as npx keeps it if it was given this to fetch. @returns its path */
function fetchedByNpx(given: string): string {
  const cached = temporaryFolder();
  const noted = { dependencies: { payrun: "^0.1.0" }, _npx: { packages: [given] } };
  writeFileSync(join(cached, "package.json"), JSON.stringify(noted));
  return join(cached, "node_modules/payrun");
}

test("a program that npx fetched by a package name is printed with that name", () => {
  for (const name of ["payrun", "payrun@0.1.0", "payrun@latest"]) {
    expect(givenToNpx(fetchedByNpx(name))).toBe(name);
  }
});

test("a program from an archive, or not from npx, has no name for npx", () => {
  expect(givenToNpx(fetchedByNpx("./payrun-0.1.0.tgz"))).toBeUndefined();
  expect(givenToNpx(join(temporaryFolder(), "node_modules/payrun"))).toBeUndefined();
});
