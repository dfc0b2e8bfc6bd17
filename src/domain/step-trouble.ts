/** What the steps of workflows do, in words that follow “a step that fails again and again”. */
const STEPS: Readonly<Record<string, string>> = {
  planRun: "planning",
  reviewRun: "counting approvals and money",
  reserveMoney: "reserving money",
  payBills: "sending payments",
  followPayments: "reading payments",
  makeDeposits: "making deposits",
  reviewFailedPayment: "deciding about a failed payment",
  payAgain: "paying again",
};

const FAILS = "a step that fails again and again";

/** The reason of a step whose tries end without any answer. */
export const NO_ANSWER =
  "Temporal got no answer to its last tries: a worker died, took too long, or isn't Payrun's";

/** Says what a workflow waits for while one of its steps fails, and what people can do about it. */
export function stepTrouble(step: string, reason: string): string {
  return `${FAILS}: ${STEPS[step] ?? step}: ${reason}. ${remedyOf(reason)}`;
}

/** Says what people can do about a step that fails for this reason. */
export function remedyOf(reason: string): string {
  const remedy =
    reason === NO_ANSWER
      ? "Check that a worker runs and has the memory that it needs"
      : "Correct what this names, in the service or in the settings (payrun doctor checks both)";
  return `${remedy}; it is tried again by itself, and nothing is sent twice.`;
}

const STOPPED = "its workflow in Temporal, which";

/** Says that a workflow waits for people because it doesn't go on in Temporal, and what to do. */
export function workflowTrouble(
  workflowId: string,
  { is, see }: { readonly is: string; readonly see: string },
): string {
  return `${STOPPED} ${is}. ${see} end it there (temporal workflow terminate --workflow-id '${workflowId}'): a new one goes on from the store`;
}

/** True for a text that says that a workflow, or a step of it, doesn't go on. */
export function isTrouble(text: string | null): boolean {
  return text?.startsWith(FAILS) === true || text?.startsWith(STOPPED) === true;
}
