import type { BillChoice } from "../../contracts/playbook.ts";
import { read, readCondition } from "../blocks.ts";
import { isRecord } from "../../contracts/is-record.ts";
import type { Issue } from "../source.ts";
import { fine, type TextReading, readWord, shown, WORD_PATTERN, wrong } from "../texts.ts";

/**
 * Returns the keys of `choose` that select bills; a missing `run` means different things in
 * different kinds.
 */
export function chosenBills(withoutRun: string) {
  return {
    run: read((input) => readWord(input, "a playbook", "weekly-vendors"))
      .optional()
      .meta({
        description: `A pay-run playbook: only bills of its runs. ${withoutRun}`,
        type: "string",
        pattern: WORD_PATTERN,
        examples: ["weekly-vendors"],
      }),
    where: read(readWhere)
      .optional()
      .meta({
        description:
          "`review` for the bills that were flagged for review, else a CEL condition on the planned bill, which may ask for `payable.flags`.",
        type: "string",
        examples: ["review", "payable.amountCents > 1000000"],
      }),
    vendor: read(readId)
      .optional()
      .meta({ description: "A vendor, by contact id.", type: "string", examples: ["con_123"] }),
  };
}

/** Reads which bills are selected: `review` for flagged bills, otherwise a CEL condition. */
function readWhere(input: unknown): TextReading<string> {
  if (input === "review") return fine(input);
  if (typeof input !== "string") {
    return wrong(
      `${shown(input)} is not a condition`,
      'review, or a condition such as payable.description.contains("rent")',
    );
  }
  return readCondition(input, "approve");
}

/** Reads an id of the service: a vendor's or a payment's. */
export function readId(input: unknown): TextReading<string> {
  return typeof input === "string" && /^\S{1,200}$/.test(input)
    ? fine(input)
    : wrong(`${shown(input)} is not an id`, "an id as the service shows it");
}

/** Returns the selection of bills after loading. */
export function billChoice(
  choose: { readonly [Key in "run" | "where" | "vendor"]?: string | undefined } | undefined,
): BillChoice {
  const { run = null, where = null, vendor = null } = choose ?? {};
  return { run, where, vendor };
}

/** Finds a playbook that names neither what it is about nor events. */
export function checkChosen(written: Readonly<Record<string, unknown>>, expected: string): Issue[] {
  const { choose = {}, events } = written;
  if (!isRecord(choose) || Object.keys(choose).length > 0 || events !== undefined) return [];
  const message = "choose" in written ? "`choose` names nothing" : "`choose` is missing";
  return [{ path: ["choose"], anchor: "key", message, expected }];
}
