import { formatUsd, sumCents } from "../money.ts";
import { type GivenUp, givenUp } from "../notices/given-up-texts.ts";
import { fact, inBrackets, news, notice, text, wakeWorkflow } from "./fact.ts";

interface FailedElsewhere {
  readonly subject: string;
  readonly paymentId: string;
  readonly reason: string;
  readonly status: string;
  readonly amountCents: number;
  readonly roles: readonly string[];
}

/** A payment that Payrun did not make has failed. */
export const paymentFailedElsewhere = fact(
  "payment.failed-elsewhere",
  { paymentId: text, reason: text, playbook: text },
  {
    once: true,
    notifies: notice(
      "payment-failed-elsewhere",
      ({ subject: payableId, paymentId, reason, status, amountCents, roles }: FailedElsewhere) => ({
        factKey: paymentId,
        subject: `A payment of ${formatUsd(amountCents)} that Payrun did not make has ${status}`,
        text: `${payableId}: ${reason}\n\nNothing is paid again by itself; the next run that selects the bill asks for an approval.`,
        roles,
        data: { payableId, paymentId, amountCents },
      }),
    ),
  },
);

interface NewAccount {
  readonly runId: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly contactName: string | null;
  readonly last4: string;
  readonly reason: string;
  readonly roles: readonly string[];
}

/** A vendor has another bank account after a failed payment. */
export const vendorAccountChanged = news(
  notice("bank-account-changed", ({ runId, payableId, contactId, ...of }: NewAccount) => ({
    factKey: `${payableId}/${of.last4}`,
    subject: `${of.contactName ?? contactId} has another bank account after a failed payment`,
    text: of.reason,
    roles: of.roles,
    data: { payableId, contactId },
    runId,
  })),
);

interface BillsGivenUp {
  readonly runId: string;
  /** The last one has just been given up; the others were told of in notices that nobody got. */
  readonly bills: readonly GivenUp[];
  readonly roles: readonly string[];
  readonly sendAtMs: number;
}

/** Nobody acted on failed bills for as long as their playbook says. */
export const billsGivenUp = news(
  notice("given-up", ({ runId, bills, roles, sendAtMs }: BillsGivenUp) => {
    const { factKey = "", payableId, workflowId } = bills.at(-1) ?? {};
    return {
      factKey,
      sendAtMs,
      roles,
      runId,
      together: bills.map((bill) => bill.factKey),
      ...givenUp(bills),
      data: {
        payableId,
        workflowId,
        bills,
        amountCents: sumCents(bills.map(({ amountCents }) => amountCents)),
      },
    };
  }),
);

const resolved = (action: string, said: string) =>
  fact(
    `payable.resolved-${action}`,
    {
      runId: text,
      reason: text,
      workflowId: text.optional(),
      holdId: text.optional(),
      state: text.optional(),
    },
    {
      says: ({ reason }) => `${said}${inBrackets(reason)}`,
      wakes: ({ runId, retryId }: Record<"runId" | "retryId", string>) =>
        action === "retry" ? [] : [wakeWorkflow(runId), wakeWorkflow(retryId)],
    },
  );

/** What a person has decided about a parked bill. */
export const PAYABLE_RESOLVED = {
  retry: resolved("retry", "To be tried again"),
  "paid-elsewhere": resolved("paid-elsewhere", "Said to be paid elsewhere"),
  "give-up": resolved("give-up", "Given up"),
};
