import { isRecord } from "../../../contracts/is-record.ts";
import { formatUsd } from "../../../domain/money.ts";
import type { Issue, Path } from "../../source.ts";
import { writtenRules } from "./check-stages.ts";
import type { PayRunKeys } from "./schema.ts";

/** Finds what is valid in a playbook, and probably not what its author meant. */
export function warnPayRun(input: PayRunKeys, written: unknown): Issue[] {
  if (!isRecord(written)) return [];
  return [
    ...(written["review"] === undefined ? [] : reviewedByNoRule(input)),
    ...splitsBelowNothing(input),
    ...aboveLimit(input, writtenRules(written).path),
  ];
}

function reviewedByNoRule({ review, approve }: PayRunKeys): Issue[] {
  const asks = approve.rules.some(
    ({ when, where }) => when === "review" || where?.includes("payable.flags"),
  );
  if (asks || review.length === 0) return [];
  const message =
    "no rule of `approve` has `when: review`, so flagged bills, and bills that were rejected before, need no other approval than others";
  return [{ path: ["review"], anchor: "key", message }];
}

function splitsBelowNothing({ review, approve, limits }: PayRunKeys): Issue[] {
  const index = review.indexOf("split-below-limit");
  const hasAmount =
    limits.bill !== undefined || approve.rules.some(({ over }) => over !== undefined);
  if (index < 0 || hasAmount) return [];
  const message =
    "`split-below-limit` flags nothing without an `over` rule or `limits.bill`, unless the business's profile limits a bill";
  return [{ path: ["review", index], anchor: "value", message }];
}

/** Finds amounts that no bill passes without passing the limit for one bill. */
function aboveLimit({ limits, approve, changedRecord }: PayRunKeys, rulesPath: Path): Issue[] {
  const { bill } = limits;
  if (bill === undefined) return [];
  const rules = approve.rules.map(({ over }, index) => ({
    path: [...rulesPath, index, "over"],
    cents: over?.per === "bill" ? over.amount : null,
    what: "this rule",
  }));
  const cancels = {
    path: ["changedRecord", "cancelOver"],
    cents: changedRecord?.cancelOver ?? null,
    what: "this",
  };
  return [...rules, cancels].flatMap(({ path, cents, what }): Issue[] => {
    if (cents === null || cents < bill) return [];
    const message = `${what} never acts: what is above ${formatUsd(cents)} is above \`limits.bill\`, ${formatUsd(bill)}, and is not paid`;
    return [{ path, anchor: "value", message }];
  });
}
