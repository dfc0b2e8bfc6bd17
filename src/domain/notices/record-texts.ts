import { changeIn } from "../approvals/changed-records.ts";
import { type BillSum, counted, NOTHING, plus } from "../counted.ts";
import { spokenTime } from "../clock/spoken.ts";
import { formatUsd } from "../money.ts";
import { LISTED, type NoticeText } from "./run-texts.ts";

/** A bill whose vendor's record was changed after the approval. */
export interface BillOfRecord {
  readonly runId: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly reason: string | null;
  /** True if Payrun has put it on hold, above the playbook's amount. */
  readonly isHeld: boolean;
  /** Whether it waits for a word, or how far its scheduled payment is or can be cancelled. */
  readonly stands: "waits" | "recallable" | "cancelling" | "cancelled" | "not-recallable";
  /** Business-clock instant until which its payment can be cancelled; null if there is no such end. */
  readonly untilMs: number | null;
}

/** Notifies, in one notice, that the records of vendors were changed after the approval. */
export function recordsChanged(
  bills: readonly BillOfRecord[],
  zone: string | undefined,
): NoticeText {
  const of = (...stands: BillOfRecord["stands"][]) =>
    bills.filter((bill) => stands.includes(bill.stands));
  const waiting = of("waits");
  const scheduled = of("recallable", "not-recallable", "cancelling");
  const vendors = Map.groupBy(bills, ({ contactId }) => contactId);
  const asks = [...new Set(waiting.map(({ runId }) => runId))];
  const [cancelling, cancelled, lost] = [of("cancelling"), of("cancelled"), of("not-recallable")];
  const held = bills.filter(({ isHeld }) => isHeld);
  return {
    subject: `${counted(vendors.size, "vendor")}: records were changed after the approval of ${sum(bills)}`,
    text: [
      ...(waiting.length === 0
        ? []
        : [
            `${sum(waiting)} wait${waiting.length === 1 ? "s" : ""} for one word: is the account still right? The other approvals stand.`,
          ]),
      ...(scheduled.length === 0
        ? []
        : [
            `${sum(scheduled)} ${scheduled.length === 1 ? "is" : "are"} scheduled already.${untilText(of("recallable"), zone)}`,
          ]),
      ...(cancelling.length === 0
        ? []
        : [
            `${sum(cancelling)} of it: above the playbook's amount, so it is cancelled if the service still allows it.`,
          ]),
      ...(cancelled.length === 0
        ? []
        : [
            `${sum(cancelled)}: above the playbook's amount, so ${cancelled.length === 1 ? "its payment was" : "their payments were"} cancelled.`,
          ]),
      ...(lost.length === 0 ? [] : [`${sum(lost)} of it can't be recalled any more.`]),
      ...[...vendors]
        .slice(0, LISTED)
        .map(([id, own]) => `- ${id}: ${changeIn(own[0]?.reason ?? null)}; ${sum(own)}`),
      ...(vendors.size > LISTED ? [`- and ${vendors.size - LISTED} more vendors`] : []),
      ...asks
        .slice(0, LISTED)
        .map((runId) => `If they are right: payrun approve ${runId} --same-account all`),
      ...held
        .slice(0, LISTED)
        .map(
          ({ payableId }) => `${payableId} is on hold. If it is right: payrun release ${payableId}`,
        ),
      ...(held.length > LISTED
        ? [`and ${held.length - LISTED} more are on hold: payrun holds lists them.`]
        : []),
      "If one isn't: payrun stop --contact CONTACT --cancel-scheduled --reason WHY",
    ].join("\n"),
  };
}

function untilText(bills: readonly BillOfRecord[], zone: string | undefined): string {
  const ends = bills.flatMap(({ untilMs }) => untilMs ?? []);
  if (ends.length === 0) return "";
  return ` The first can be cancelled until ${spokenTime(Math.min(...ends), zone)}.`;
}

function sum(bills: readonly Pick<BillOfRecord, "amountCents">[]): string {
  const { count, cents } = bills.reduce<BillSum>(
    (all, { amountCents }) => plus(all, { count: 1, cents: amountCents }),
    NOTHING,
  );
  return `${counted(count, "bill")}, ${formatUsd(cents)}`;
}
