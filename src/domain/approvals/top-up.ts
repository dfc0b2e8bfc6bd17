import {
  type DecisionInput,
  type DecisionVerdict,
  isAlone,
  refusalOfPerson,
  refuse,
} from "./policy.ts";

/** The facts of a deposit that a decision needs. */
export interface DecidableTopUp {
  readonly subject: string;
  readonly hash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** True until it is sent. */
  readonly proposed: boolean;
  /** True if only a person can find out whether it was made. */
  readonly unclear: boolean;
}

export type TopUpDecisionInput = Pick<
  DecisionInput,
  "token" | "playbookAuthors" | "singlePerson"
> & {
  readonly decision: {
    readonly kind: "approve" | "reject";
    /** The hash of the deposit that the approver saw. */
    readonly hash: string;
  };
  /** The run whose playbook allows the deposit. */
  readonly run: DecisionInput["run"];
  /** The deposit that waits for a decision; undefined if none does. */
  readonly topUp: DecidableTopUp | undefined;
};

/**
 * Judges a decision about a deposit. It counts only for exactly the deposit that the approver saw,
 * and only from one of the roles that the playbook names. Unless the business allows one person, an
 * approval doesn't count from a launcher of the run, with a launcher's token or from an author of
 * the playbook.
 */
export function judgeTopUpDecision(input: TopUpDecisionInput): DecisionVerdict {
  const { decision, topUp } = input;
  if (topUp === undefined) {
    return refuse("nothing_left", "no deposit waits for a decision");
  }
  if (topUp.hash !== decision.hash) {
    return refuse(
      "stale_plan",
      "the deposit has changed since you saw it; look again and decide on its new hash",
    );
  }
  const person = refusalOfPerson({ ...input, decision: { kind: decision.kind } });
  if (person !== undefined) return person;
  const roles = new Set(input.token.roles);
  if (!topUp.approvers.some((role) => roles.has(role))) {
    const needed = [...topUp.approvers].sort().join(", ");
    return refuse("role_missing", `a deposit takes one of the roles ${needed}`);
  }
  if (decision.kind === "reject") {
    return topUp.proposed || topUp.unclear
      ? { accepted: true, countsFor: [], dropped: [] }
      : refuse("nothing_left", "the deposit has been made; nothing is left to refuse");
  }
  if (!topUp.proposed) return refuse("nothing_left", "the deposit has been made");
  const { subject, hash, approvers, quorum } = topUp;
  const countsFor = [{ payableId: subject, lineHash: hash, approvers, quorum }];
  return { accepted: true, countsFor, dropped: [], ...(isAlone(input) ? { alone: true } : {}) };
}
