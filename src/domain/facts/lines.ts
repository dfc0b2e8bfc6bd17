import type { z } from "zod";
import { LINE_STATES, type LineState } from "../../contracts/line-states.ts";
import { ONLY_PLANS } from "../plan-only.ts";
import { any, fact, text, whole, why } from "./fact.ts";

/**
 * What an entry says of a line that moves: of its plan if it begins, otherwise why. Lines that move
 * together share it.
 */
const moved = {
  lineHash: text.optional(),
  amountCents: whole.optional(),
  from: text.optional(),
  reasonCode: text.nullish(),
  reason: any,
  why: any,
  outcome: text.optional(),
  code: text.optional(),
  scope: text.optional(),
  payments: any,
  each: any,
  runId: text.optional(),
  decisionId: any,
};

type Moved = z.output<z.ZodObject<typeof moved>>;

const SAYS: Readonly<Partial<Record<LineState, (details: Moved) => string>>> = {
  cancelled: (details) =>
    details.reasonCode === "dropped" ? "Left out of its run" : `Cancelled${why(details)}`,
  planned: (details) =>
    details.reasonCode === "approved" || details.why === "approved"
      ? "Has every approval that it needs"
      : `Now planned${why(details, "planned")}`,
  skipped: () => `Only planned: nothing is sent, since ${ONLY_PLANS}`,
};

export const LINE_MOVED = Object.fromEntries(
  LINE_STATES.map((state) => {
    const says = SAYS[state];
    return [state, fact(`line:${state}`, moved, says && { says })];
  }),
) as Readonly<Record<LineState, ReturnType<typeof fact<typeof moved>>>>;

/** Lines of a run got new terms. */
export const linesPlannedAnew = fact("line:planned-anew", {
  runId: text,
  planNo: whole,
  planHash: text,
  version: whole,
  lineHash: text,
  amountCents: whole,
});

export const lineHandedToRetry = fact(
  "handed-to-retry",
  { workflowId: text },
  { says: () => "Handed to its retry" },
);
