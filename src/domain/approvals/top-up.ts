import {
  type DecisionInput,
  type DecisionVerdict,
  isAlone,
  refusalOfPerson,
  refuse,
} from "./policy.ts";

/** A deposit as far as deciding about it goes. */
export interface DecidableTopUp {
  readonly subject: string;
  readonly hash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** True while nothing of it was sent. */
  readonly proposed: boolean;
  /** True where nobody but a person can tell what became of it. */
  readonly unclear: boolean;
}

export type TopUpDecisionInput = Pick<
  DecisionInput,
  "token" | "playbookAuthors" | "singlePerson"
> & {
  readonly decision: {
    readonly kind: "approve" | "reject";
    /** The hash of the deposit that was looked at. */
    readonly hash: string;
  };
  /** The run whose playbook allows the deposit. */
  readonly run: DecisionInput["run"];
  /** What is asked for now; undefined where nothing is. */
  readonly topUp: DecidableTopUp | undefined;
};

/**
 * Whether a decision about a deposit counts: for exactly the one that was looked at, by one of the
 * roles that the playbook names, and not by who launched the run or last changed the playbook.
 */
export function judgeTopUpDecision(input: TopUpDecisionInput): DecisionVerdict {
  const { decision, topUp } = input;
  if (topUp === undefined) {
    return refuse("nothing-left", "no deposit waits for a decision");
  }
  if (topUp.hash !== decision.hash) {
    return refuse(
      "stale-plan",
      "the deposit has changed since you saw it; look again and decide on its new hash",
    );
  }
  const person = refusalOfPerson({ ...input, decision: { kind: decision.kind } });
  if (person !== undefined) return person;
  const roles = new Set(input.token.roles);
  if (!topUp.approvers.some((role) => roles.has(role))) {
    const needed = [...topUp.approvers].sort().join(", ");
    return refuse("role-missing", `a deposit needs a token with one of the roles ${needed}`);
  }
  if (decision.kind === "reject") {
    return topUp.proposed || topUp.unclear
      ? { accepted: true, countsFor: [], dropped: [] }
      : refuse("nothing-left", "the deposit has been made; nothing is left to refuse");
  }
  if (!topUp.proposed) return refuse("nothing-left", "the deposit has been made");
  const { subject, hash, approvers, quorum } = topUp;
  const countsFor = [{ payableId: subject, lineHash: hash, approvers, quorum }];
  return { accepted: true, countsFor, dropped: [], ...(isAlone(input) ? { alone: true } : {}) };
}
