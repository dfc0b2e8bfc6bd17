import type { ASTNode } from "@marcbachmann/cel-js";
import { FLAG_KINDS } from "../contracts/pay-run.ts";
import { suggest } from "../domain/suggest.ts";
import { conditionParts } from "./condition-parts.ts";
import type { Fault } from "./problem.ts";

/** A flag that a condition looks for, and where. */
export interface FlagAsked {
  readonly flag: string;
  readonly range: ASTNode["range"];
}

/** Finds the flags that a condition looks for: `"new-vendor" in payable.flags`. */
export function flagsAsked(root: ASTNode): FlagAsked[] {
  return conditionParts(root).flatMap((part): FlagAsked[] => {
    if (part.op !== "in") return [];
    const [{ op, args: flag, range }, list] = part.args;
    if (op !== "value" || typeof flag !== "string") return [];
    return list.op === "." && list.args[1] === "flags" ? [{ flag, range }] : [];
  });
}

/** Finds flags that no bill ever has: a rule that looks for one never matches. */
export function unknownFlags(root: ASTNode): Fault[] {
  const known: readonly string[] = FLAG_KINDS;
  return flagsAsked(root)
    .filter(({ flag }) => !known.includes(flag))
    .map(({ flag, range }) => {
      const guess = suggest(flag, known);
      return {
        range,
        message: `no bill ever has the flag \`${flag}\``,
        expected: `one of ${known.join(", ")}`,
        ...(guess === undefined ? {} : { didYouMean: guess }),
      };
    });
}
