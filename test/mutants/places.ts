import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { UsageError } from "../support/arguments.ts";
import { inCheckout } from "../../scripts/setup/set-up.mjs";
import { type Change, changesIn } from "./changes.ts";

/** Where a change that nobody notices may cost money. */
const PLACES = [
  "src/ledger/",
  "activities/pay/",
  "activities/retry/",
  "src/domain/approvals/",
  "src/domain/planning/",
  "src/domain/payments/",
  "src/domain/holds.ts",
  "src/store/holds/",
  "src/store/lines/line-leases.ts",
  "src/store/lines/lease-columns.ts",
  "src/store/payables/claims.ts",
] as const;

/** Returns the files of the checkout that git doesn't ignore. */
export function checkoutFiles(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
  const listed = execFileSync("git", args, { cwd: inCheckout(), encoding: "utf8" });
  return listed.split("\0").filter((file) => file !== "");
}

/**
 * Returns all single changes of the money core, or of one of the product's folders or files.
 *
 * @throws {UsageError} if there is no such folder
 */
export function allChanges(files: readonly string[], only?: string): Change[] {
  const within = (place: string) => (file: string) =>
    file === place || file.startsWith(`${place.replace(/\/$/, "")}/`);
  const isWanted = (only === undefined ? PLACES : [only]).map(within);
  const wanted = files.filter(
    (file) =>
      /^(?:src|activities|workflows)\/.*\.ts$/.test(file) && isWanted.some((is) => is(file)),
  );
  if (wanted.length === 0) throw new UsageError(`--only: ${only} has no source files of Payrun`);
  return wanted.flatMap((file) => changesIn(file, readFileSync(inCheckout(file), "utf8")));
}

/**
 * Returns some of the changes, by a seed. Whether one is among them depends little on the others,
 * so a seed tries much the same after the code has changed.
 */
export function sampleOf(changes: readonly Change[], count: number, seed: number): Change[] {
  const draw = ({ key }: Change) => createHash("sha256").update(`${seed} ${key}`).digest("hex");
  return changes
    .map((change) => ({ change, drawn: draw(change) }))
    .sort((a, b) => (a.drawn < b.drawn ? -1 : 1))
    .slice(0, count)
    .map(({ change }) => change);
}

const HARMLESS = z.array(z.strictObject({ change: z.string(), because: z.string().min(1) }));

/** Returns the changes that a reader has judged to do no harm, by their keys. */
export function harmlessChanges(): Set<string> {
  const text = readFileSync(inCheckout("test/mutants/harmless.yaml"), "utf8");
  return new Set(HARMLESS.parse(parse(text)).map(({ change }) => change));
}
