import { z } from "zod";
import { formatUsd } from "../money.ts";
import { trailDiffers, unapprovedRequest } from "../notices/open-texts.ts";
import { any, fact, inBrackets, text, texts, toOperators, whole, yes } from "./fact.ts";

/** Which request of its subject, and which send of it. */
const send = { attemptId: text, seq: whole, send: whole };

/** The fields of a payment that the trail keeps. */
const payment = z.object({ id: text, amountCents: whole, status: text });

/** Facts of money writes: bills, deposits and cancels of payments are their subjects. */
export const requestSending = fact(
  "attempt.sending",
  { ...send, operation: text, key: text, bodyHash: text, amountCents: whole },
  {
    kind: "sending",
    says: ({ seq, send: no, amountCents }) =>
      `Request ${seq}, send ${no}: ${formatUsd(amountCents)}`,
  },
);

const answer = {
  ...z.object(send).partial().shape,
  result: text,
  madeIds: texts.optional(),
  payments: any,
  status: whole.nullish(),
  code: text.nullish(),
  line: text.optional(),
};

export const requestAnswered = fact("attempt.answered", answer, {
  kind: "answered",
  says: ({ seq, result, status, code, line }) =>
    `Request ${seq ?? "?"}: ${result}${inBrackets(status, code)}${line === undefined ? "" : `; line ${line}`}`,
});

/** A lookup has found the payment of a request without an answer. */
export const requestAdopted = fact("attempt.adopted", answer, {
  says: () => "The payment that the lookup found counts as the requested one",
});

export const requestLookedUp = fact(
  "attempt.looked-up",
  {
    lookupId: text.optional(),
    attemptId: text.optional(),
    seq: whole.optional(),
    begunAtMs: whole,
    isWhole: yes,
    shownIds: text,
    verdict: text,
    isConclusive: yes,
    shown: whole,
    found: z.array(payment).readonly(),
  },
  {
    kind: "looked-up",
    says: ({ seq, verdict, shown, isConclusive }) =>
      `Looked up request ${seq ?? "?"}: ${verdict}, ${shown} ${shown === 1 ? "payment" : "payments"} shown${isConclusive ? ", after its window" : ""}`,
  },
);

export const requestRefusedByGate = fact(
  "attempt.refused",
  { attemptId: text, seq: whole, operation: text, why: text },
  { says: ({ seq, why }) => `Request ${seq} not sent: ${why}` },
);

interface Alarm {
  readonly subject: string;
  readonly reason: string;
  readonly holdId?: string | undefined;
  /** The workflow that asked. */
  readonly owner: string;
}

const factOf = ({ holdId, owner, subject }: Alarm) => holdId ?? `${owner}/${subject}`;

/** A request that was about to leave is not what was approved. */
export const requestNotAsApproved = fact(
  "alarm:not-as-approved",
  { operation: text, reason: text, holdId: text.optional() },
  {
    notifies: toOperators("not-as-approved", (of: Alarm & { readonly operation: string }) => ({
      factKey: factOf(of),
      ...unapprovedRequest(of.subject, of.reason),
      data: { subject: of.subject, operation: of.operation },
    })),
  },
);

/** The trail says something else than the store of what was about to be paid. */
export const trailAndStoreDiffer = fact(
  "alarm:trail-differs",
  { reason: text, count: whole, holdId: text.optional() },
  {
    notifies: toOperators("trail-differs", (of: Alarm & { readonly count: number }) => {
      const { subject, reason, count, holdId, owner: runId } = of;
      return {
        factKey: factOf(of),
        ...trailDiffers(subject, count, reason),
        data: { subject, reason, count, holdId },
        runId,
      };
    }),
  },
);

const late = { sendId: text, had: text, result: text, code: text.nullish(), madeIds: texts };

interface Late extends Readonly<
  Record<"subject" | "sendId" | "had" | "result" | "because", string>
> {
  readonly code?: string | null | undefined;
  readonly madeIds: readonly string[];
}

/** A second answer came for one request. */
export const lateAnswer = fact(
  "alarm:late-answer",
  { lateAnswerId: text, ...late },
  {
    notifies: toOperators(
      "late-answer",
      ({ subject, sendId, had, result, code, madeIds, because }: Late) => ({
        factKey: `${sendId}/${result}`,
        subject: `Two answers arrived for one request about ${subject}`,
        text: [
          because,
          "This should be impossible: a request's answer is written by its sender alone, once.",
          `What to do: compare the bill's payments with the bank (payrun explain ${subject}), then release its hold.`,
        ].join("\n"),
        data: { subject, sendId, had, result, code, madeIds },
      }),
    ),
  },
);
