import { formatUsd } from "../money.ts";
import {
  inDoubt,
  notFoundVendor,
  paidAfterAll,
  paidTooMuch,
  unexplained,
} from "../notices/open-texts.ts";
import { type AlarmCode, ALARMS } from "../payments/alarms.ts";
import { any, type Declared, fact, news, text, texts, toOperators, whole } from "./fact.ts";

interface Doubted {
  readonly subject: string;
  readonly text: string;
  readonly cancels: readonly string[];
  readonly code: AlarmCode;
  readonly runId: string;
  /** What was found: another finding is told again. */
  readonly found: string | number;
}

/** A scheduled payment should not go out as it is. */
export const PAYMENT_DOUBTED = Object.fromEntries(
  ALARMS.map((code) => [
    code,
    fact(
      `alarm:${code}`,
      { text, cancels: texts },
      {
        notifies: toOperators(
          "payment-in-doubt",
          ({ subject: payableId, text: said, cancels, runId, found }: Omit<Doubted, "code">) => ({
            factKey: `${runId}/${payableId}/${code}/${found}`,
            ...inDoubt(payableId, said),
            data: { payableId, code, cancels },
            runId,
          }),
        ),
      },
    ),
  ]),
) as Readonly<
  Record<AlarmCode, Declared<{ text: string; cancels: readonly string[] }, Omit<Doubted, "code">>>
>;

interface Missing {
  readonly runId: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly contactName: string | null;
  readonly code: string;
  readonly reason: string;
}

/** The vendor of a scheduled payment can't be found. */
export const vendorMissing = news(
  toOperators(
    "payment-in-doubt",
    ({ runId, payableId, contactId, contactName, code, reason }: Missing) => ({
      factKey: `${runId}/${contactId}/${code}`,
      ...notFoundVendor(contactName ?? contactId, reason),
      data: { payableId, contactId, code, cancels: [] },
      runId,
    }),
  ),
);

interface Overpaid {
  readonly runId: string;
  readonly payableId: string;
  readonly amountPaidCents: number;
  readonly totalCents: number;
}

export const billOverpaid = news(
  toOperators("payment-in-doubt", ({ runId, payableId, amountPaidCents, totalCents }: Overpaid) => {
    const { subject, text: said } = paidTooMuch(payableId, { amountPaidCents, totalCents });
    return {
      factKey: `${payableId}/overpaid/${amountPaidCents}/${totalCents}`,
      subject,
      text: said,
      data: { payableId, amountPaidCents, totalCents },
      runId,
    };
  }),
);

/** Vendors' records were changed after the approval, of a run's scheduled bills. */
export const recordsChangedMeanwhile = fact("alarm:changed-record", {
  records: any,
  cancels: texts,
});

interface Moved {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly updatedAt?: string | null | undefined;
  readonly runId: string;
}

/** Its subject is the payment. */
export const paymentMovedOddly = fact(
  "alarm:impossible-move",
  { from: text, to: text, updatedAt: text.nullish() },
  {
    notifies: toOperators(
      "impossible-move",
      ({ subject: paymentId, from, to, updatedAt, runId }: Moved) => ({
        factKey: `${paymentId} ${from} ${to} ${updatedAt ?? ""}`,
        subject: `Payment ${paymentId} went from ${from} to ${to}`,
        text: [
          `The service said that payment ${paymentId} of run ${runId} was ${from}; now it says ${to}, which should be impossible.`,
          "Payrun believes what the service says now, and goes on by it.",
          `What to do: compare payment ${paymentId} with the bank's statement (payrun report ${runId} --bank-csv), and ask the service. Until it is cleared up, payrun hold --run ${runId} --reason "${paymentId} moved oddly" keeps the rest of the run back.`,
        ].join("\n"),
        data: { paymentId, from, to, updatedAt },
        runId,
      }),
    ),
  },
);

/** The service shows a payment of a bill that no request explains. */
export const paymentUnexplained = news(
  toOperators(
    "payment-unexplained",
    ({ payableId, reason, found }: Record<"payableId" | "reason" | "found", string>) => ({
      factKey: `${payableId}/${found}`,
      ...unexplained(payableId, reason),
      data: { payableId },
    }),
  ),
);

interface PaidAfterAll {
  readonly payableId: string;
  readonly payments: Parameters<typeof paidAfterAll>[1];
  readonly found: string;
}

/** A request without an answer has paid after all, and no run follows its bill any more. */
export const billPaidAfterAll = news(
  toOperators("payment-unexplained", ({ payableId, payments, found }: PaidAfterAll) => ({
    factKey: `${payableId}/${found}`,
    ...paidAfterAll(payableId, payments),
    data: { payableId },
  })),
);

const forgotten = {
  paymentId: text,
  payableId: text.nullable(),
  contactId: text.nullable(),
  amountCents: whole,
  status: text,
  reason: text.nullable(),
};

/** A payment that the store has no record of came back; one notice covers those found together. */
export const paymentNotOnRecord = fact("payment.not-on-record", forgotten);

interface Forgotten {
  readonly paymentId: string;
  readonly payableId: string | null;
  readonly contactId: string | null;
  readonly amountCents: number;
  readonly status: string;
  readonly reason: string | null;
}

export const paymentsNotOnRecord = news(
  toOperators(
    "payment-not-on-record",
    ({ payments }: { readonly payments: readonly Forgotten[] }) => {
      const together = payments.map(({ paymentId }) => paymentId);
      const [first] = payments;
      const rest = payments.length - FORGOTTEN_LISTED;
      return {
        factKey: together[0] ?? "",
        together,
        subject:
          first !== undefined && payments.length === 1
            ? `A payment of ${formatUsd(first.amountCents)} that this store has no record of ${endOf(first)}`
            : `${payments.length} payments that this store has no record of have come back`,
        text: [
          ...payments.slice(0, FORGOTTEN_LISTED).map(lineOf),
          ...(rest > 0 ? [`and ${rest} more, which the trail has.`] : []),
          "",
          "Payrun made them after the backup that this store was restored from, or someone else made them. Payrun pays none of them again by itself: the next run that selects such a bill asks for an approval.",
          "What to do: payrun explain BILL shows all payments of a bill; make sure that each vendor gets what is owed, once.",
        ].join("\n"),
        data: { payments },
      };
    },
  ),
);

/** How many payments that notice lists; its data contains all of them. */
const FORGOTTEN_LISTED = 40;

function lineOf({ paymentId, payableId, contactId, ...payment }: Forgotten): string {
  const bill = payableId === null ? "" : ` for ${payableId}`;
  const vendor = contactId ?? "a vendor whom the service does not name";
  const why = payment.reason ?? "no return code given";
  return `- ${paymentId}, ${formatUsd(payment.amountCents)} to ${vendor}${bill}, ${endOf(payment)}: ${why}`;
}

function endOf({ status }: Pick<Forgotten, "status">): string {
  return status === "returned" ? "was returned" : "has failed";
}
