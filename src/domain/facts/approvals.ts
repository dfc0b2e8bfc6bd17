import { type ApprovalAsk, askedRoles } from "../approvals/asks.ts";
import type { BillSum } from "../counted.ts";
import { approvalEscalated, approvalReminder, stageOpened } from "../notices/approval-texts.ts";
import { askedAgainNotice } from "../notices/person-texts.ts";
import { approvalNeeded, decideByNear, type DecideBy, type RunName } from "../notices/run-texts.ts";
import { fact, news, notice, text, texts, whole } from "./fact.ts";

/** An approval that a run asks for, at a moment. */
interface Asked {
  readonly run: RunName & { readonly planHash: string | null };
  readonly ask: ApprovalAsk;
  readonly until: DecideBy;
  /** Business clock. */
  readonly atMs: number;
}

const ofAsk = ({ run, ask, atMs }: Asked) => {
  const { ruleIndex, stage, escalated, given, asksRecord, escalatesTo } = ask;
  const { count, cents, stages, by, quorum } = ask;
  const named = [run.runId, ruleIndex, stage, Number(escalated), atMs];
  return {
    // Bills that one person has approved are reminded of apart from bills without approvals.
    factKey: [...named, ...(given === 0 ? [] : [given]), ...(asksRecord ? ["record"] : [])].join(
      "/",
    ),
    roles: askedRoles(ask),
    data: {
      count,
      cents,
      planHash: run.planHash,
      stage: stage + 1,
      stages,
      by,
      quorum,
      escalatesTo,
    },
    runId: run.runId,
  };
};

export const stageBegan = news(
  notice("approval-needed", (asked: Asked) => ({
    ...ofAsk(asked),
    ...stageOpened(asked.run, asked.ask, asked.until),
  })),
);

export const approvalReminded = news(
  notice("approval-reminder", (asked: Asked) => ({
    ...ofAsk(asked),
    ...approvalReminder(asked.run, asked.ask, asked.until),
  })),
);

export const runEscalated = fact(
  "run.approval-escalated",
  { rule: whole, stage: text, by: texts, to: texts, lines: whole, totalCents: whole },
  {
    // `by` is the fact's here, not who has recorded it.
    notifies: notice(
      "approval-escalated",
      ({ asked }: { readonly asked: Asked | undefined }) =>
        asked && {
          ...ofAsk(asked),
          ...approvalEscalated(asked.run, asked.ask, asked.until),
          roles: asked.ask.escalatesTo,
        },
    ),
  },
);

interface Waiting {
  readonly run: RunName & { readonly planHash: string | null };
  readonly waiting: BillSum;
  readonly words: BillSum;
  readonly roles: readonly string[];
}

const ofPlan = ({ run, waiting, words, roles }: Waiting, decideBy: string | null) => ({
  factKey: `${run.runId}/${run.planHash}`,
  roles,
  data: { ...waiting, waitForWord: words.count, planHash: run.planHash, decideBy },
  runId: run.runId,
});

export const planWaits = news(
  notice(
    "approval-needed",
    (of: Waiting & { readonly asked: Parameters<typeof approvalNeeded>[2] }) => ({
      ...ofPlan(of, of.asked.decideBy),
      ...approvalNeeded(of.run, of.waiting, of.asked),
    }),
  ),
);

export const planWaitsLong = news(
  notice(
    "decide-by-near",
    (of: Waiting & { readonly asked: Parameters<typeof decideByNear>[2] }) => ({
      ...ofPlan(of, of.asked.decideBy),
      ...decideByNear(of.run, of.waiting, of.asked),
    }),
  ),
);

interface AskedAgain {
  readonly run: Parameters<typeof askedAgainNotice>[0];
  readonly person: string;
  readonly roles: readonly string[];
  readonly bills: Parameters<typeof askedAgainNotice>[2];
}

export const personAskedAgain = news(
  notice("asked-again", ({ run, person, roles, bills }: AskedAgain) => ({
    factKey: `${run.runId}/${person}`,
    ...askedAgainNotice(run, person, bills),
    person,
    roles,
    data: { by: person, payableIds: bills.map(({ payableId }) => payableId) },
    runId: run.runId,
  })),
);
