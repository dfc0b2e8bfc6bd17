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

/** Notifies the holder of a token that it was used from an address never seen before. */
export function tokenUsed(use: {
  readonly tokenId: string;
  readonly name: string;
  readonly address: string;
  readonly at: string;
}): NoticeText {
  const { tokenId, name, address, at } = use;
  return {
    subject: `A Payrun token of ${name} was used from a new address`,
    text: [
      `${at}: a token of ${name} was used from ${address}, from which none of theirs was used before.`,
      "If that was not you, ask an administrator to revoke it at once.",
      `Revoke it with: payrun token revoke ${tokenId}`,
    ].join("\n"),
  };
}
