import { formatUsd } from "../money.ts";
import { fact, inBrackets, notice, text } from "./fact.ts";

interface Withheld {
  readonly subject: string;
  readonly reason: string | null;
  /** The workflow that holds it back, and the run of its bill. */
  readonly workflowId: string;
  readonly runId: string | null;
  readonly amountCents: number;
  readonly holdId: string | null;
  readonly isPaidElsewhere: boolean;
  /** Those who may release it. */
  readonly roles: readonly string[];
}

const withheld = (state: string, said: string, is?: (of: Withheld) => string) =>
  fact(
    `withheld-bill:${state}`,
    { reason: text.nullable() },
    {
      says: ({ reason }) => `${said}${inBrackets(reason)}`,
      notifies: notice("bill-not-released", (of: Withheld) => {
        const { subject: payableId, workflowId, runId, roles } = of;
        if (is === undefined) return undefined;
        return {
          factKey: `${workflowId}/${payableId}`,
          subject: `${payableId}, ${formatUsd(of.amountCents)}: ${is(of)}`,
          text: `${of.reason ?? ""}\n\nBill ${payableId}, hold ${of.holdId ?? "none"}.`,
          roles,
          data: { id: workflowId, payableId, state },
          ...(runId !== null && { runId }),
        };
      }),
    },
  );

const notHeldBack = () => "could not be held back";

/** What became of a bill that was held back until a person releases it, by its item's state. */
export const WITHHELD_BILL = {
  released: withheld("released", "No longer held back"),
  withheld: withheld(
    "withheld",
    "Still held back",
    ({ isPaidElsewhere }) =>
      `still held back, ${isPaidElsewhere ? "though it was paid" : "it is not paid"}`,
  ),
  "too-late": withheld("too-late", "Could not be held back", notHeldBack),
};
