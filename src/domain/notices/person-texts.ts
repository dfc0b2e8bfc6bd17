import {
  bills,
  howTo,
  listed,
  type NoticedBill,
  type NoticeText,
  type RunName,
} from "./run-texts.ts";
import { waits } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";

/** Notifies a person that bills which they rejected or left out are asked about again. */
export function askedAgainNotice(
  run: RunName & { readonly launchedBy: string },
  principal: string,
  refused: readonly NoticedBill[],
): NoticeText {
  const { length } = refused;
  const cents = sumCents(refused.map(({ amountCents }) => amountCents));
  return {
    subject: `${run.playbook} ${run.period}: ${bills(length)} of ${formatUsd(cents)} that ${principal} rejected or left out ${waits(length)} for approval again`,
    text: [
      `Run ${run.runId}, launched by ${run.launchedBy}, asks again about:`,
      ...listed(refused),
      ...howTo(run),
    ].join("\n"),
  };
}
