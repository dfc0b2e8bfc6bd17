import { hurriedApprovalNotice } from "../notices/approval-texts.ts";
import { type RunName } from "../notices/run-texts.ts";
import {
  any,
  fact,
  news,
  notice,
  text,
  texts,
  type Wake,
  wakeOfRun,
  wakeWorkflow,
  whole,
  yes,
} from "./fact.ts";

/** What proves a signed decision. */
const proof = { via: any, keyId: any, signedDecision: any };

const decided = {
  decisionId: text,
  decision: text,
  tokenId: text.nullable(),
  roles: texts,
  expiresAtMs: whole,
  ...proof,
};

const ofRun = {
  ...decided,
  planHash: text,
  lines: whole,
  dropped: texts,
  stages: any,
  hurry: text.optional(),
  verifiedBankChanges: any,
};

interface Decided {
  readonly subject: string;
  readonly decision: string;
  readonly dropped: readonly string[];
}

/** Retries rest on the approval that a rejection, or leaving a bill out, takes back. */
export function wakesOf({ subject: runId, decision, dropped }: Decided): readonly Wake[] {
  const takesBack = decision === "reject" || dropped.length > 0;
  return [wakeWorkflow(runId), ...(takesBack ? [wakeOfRun(runId)] : [])];
}

/** A person's decision about a run, by what was decided. */
export const RUN_DECIDED = {
  approve: fact("run.approved", ofRun, { wakes: wakesOf }),
  reject: fact("run.rejected", ofRun, { wakes: wakesOf }),
};

const ofDeposit = {
  ...decided,
  hash: text,
  quorums: any,
  amountCents: whole.optional(),
  fromLast4: text.nullable(),
};

const of = {
  // Whatever the deposit waited for, a person has looked at it now.
  wakes: ({ owner }: { readonly owner: string }) => [wakeWorkflow(owner)],
};

/** The same about a deposit. */
export const DEPOSIT_DECIDED = {
  approve: fact("top-up.approved", ofDeposit, of),
  reject: fact("top-up.rejected", ofDeposit, of),
};

const refused = {
  ...proof,
  decision: text.optional(),
  code: text,
  reason: text.optional(),
  times: any,
  bytes: whole.optional(),
  sha256: text.optional(),
};

/** A decision that doesn't count, without anything of its body. */
export const runDecisionRefused = fact("run.decision-refused", refused);
export const wordRefused = fact("run.record-refused", refused);
export const depositDecisionRefused = fact("top-up.decision-refused", refused);

/** The lines that an approval counts for, and how many people each stage of their rules needs. */
export const approvalGiven = fact("approval.given", {
  runId: text,
  decisionId: text,
  expiresAtMs: whole,
  stage: whole,
  escalated: yes,
  hurried: yes,
  quorums: any,
  lineHash: text,
});

interface RunIds {
  /** Runs in which the word counts; retries of their bills wait for it too. */
  readonly runIds: readonly string[];
}

/** A person has said that vendors' accounts are still right. */
export const recordsConfirmed = fact(
  "run.records-confirmed",
  {
    decisionId: text,
    tokenId: text.nullable(),
    roles: texts,
    singlePerson: yes,
    businessMs: whole.optional(),
    zone: text.optional(),
    lines: whole,
    records: any,
    hurry: text.optional(),
    comment: text.optional(),
    ...proof,
  },
  {
    wakes: ({ runIds }: RunIds) =>
      runIds.flatMap((runId) => [wakeWorkflow(runId), wakeOfRun(runId)]),
  },
);

interface Hurried {
  readonly run: RunName;
  readonly decisionId: string;
  readonly by: string;
  readonly hurry: string;
  readonly needsAnother: boolean;
  readonly isAboutAccounts: boolean;
  /** The roles of the playbook's rules. */
  readonly roles: readonly string[];
}

export const decisionHurried = news(
  notice("hurried-approval", ({ run, decisionId, roles, ...how }: Hurried) => {
    const { by, hurry, needsAnother } = how;
    return {
      factKey: decisionId,
      ...hurriedApprovalNotice(run, how),
      roles: [...roles, "operator"],
      data: { decisionId, by, hurry, needsAnother },
      runId: run.runId,
    };
  }),
);
