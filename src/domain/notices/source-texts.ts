import { LINE, type LineState } from "../../contracts/line-states.ts";
import { formatUsd } from "../money.ts";
import { bills, type NoticeText } from "./run-texts.ts";
import { LISTED } from "./run-texts.ts";

/** Bills of one run that one funding source pays, by state. */
export interface SourceUse {
  readonly runId: string;
  readonly state: LineState;
  readonly count: number;
  readonly cents: number;
}

/**
 * @param uses open bills of the account, over all runs
 * @param isShown true if the service still shows it, as removed
 */
export function accountRemoved(
  accountId: string,
  uses: readonly SourceUse[],
  isShown: boolean,
): NoticeText {
  const listed = uses.slice(0, LISTED).map(({ runId, state, count, cents }) => {
    const fails = LINE.recallable.includes(state) ? ", which may fail on their day" : "";
    return `- ${runId}: ${bills(count)} ${state}, ${formatUsd(cents)}${fails}`;
  });
  const more = uses.length - listed.length;
  return {
    subject: isShown
      ? `Bank account ${accountId} was removed at the service`
      : `The service doesn't show bank account ${accountId} any more`,
    text: [
      `Nothing more is paid from ${accountId} while the service doesn't list it as a funding source.`,
      ...(listed.length === 0 ? ["No open run pays from it."] : ["Open runs that pay from it:"]),
      ...listed,
      ...(more > 0 ? [`- and ${more} more`] : []),
      "What to do: link the account again; or name another one in the playbook (pay: { from: … }), cancel the run and launch it again.",
    ].join("\n"),
  };
}
