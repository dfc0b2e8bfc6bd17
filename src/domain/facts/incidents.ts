import type { IncidentDecision } from "../../contracts/incident.ts";
import { RETURN_CODES } from "../payments/return-codes.ts";
import { incidentCommand } from "../retries/deciders.ts";
import { fact, inBrackets, notice, text, type Wake, whole } from "./fact.ts";

/** An entry's subject is the account. */
const wakeWaiting = (sourceId: string): Wake => ({ kind: "incident", sourceId });

interface Opened {
  readonly subject: string;
  readonly round: number;
  readonly code: string;
  readonly holdId: string;
  readonly business: string;
  readonly workflowId: string;
  readonly reason: string;
  readonly roles: readonly string[];
  /** What the service has scheduled from the account; null for nothing. */
  readonly scheduled: string | null;
}

/** Bills whose failure could have been the vendor's, or about one entry, are judged again. */
export const incidentOpened = fact(
  "incident.opened",
  { round: whole, code: text, holdId: text },
  {
    says: ({ code }) => `Its funding account is on hold for all runs${inBrackets(code)}`,
    notifies: notice("incident", ({ subject: sourceId, code, workflowId, ...of }: Opened) => ({
      factKey: `${workflowId}/${of.round}`,
      subject: `Payments from ${sourceId} bounced (${code}): nothing more is paid from it`,
      text: [
        of.reason,
        RETURN_CODES[code]?.toDo,
        of.scheduled,
        `The account is on hold for all runs of ${of.business} until one of ${of.roles.join(", ")} decides:\n\n  ${incidentCommand(sourceId)}`,
      ]
        .flatMap((said) => said ?? [])
        .join("\n\n"),
      roles: of.roles,
      data: { workflowId, sourceId, code, holdId: of.holdId },
    })),
    wakes: ({ subject }) => [wakeWaiting(subject)],
  },
);

const decided = (decision: IncidentDecision, said: string) =>
  fact(
    `incident.${decision}`,
    { round: whole, reason: text },
    {
      says: ({ reason }) => `${said}${inBrackets(reason)}`,
      wakes: ({ subject, workflowId }: { readonly subject: string; readonly workflowId: string }) =>
        decision === "top-up"
          ? [{ kind: "workflow", workflowId }]
          : [{ kind: "workflow", workflowId }, wakeWaiting(subject)],
    },
  );

export const INCIDENT_DECIDED = {
  released: decided("released", "Its funding account was released"),
  "other-source": decided(
    "other-source",
    "Its funding account stays on hold, another one is to pay",
  ),
  "top-up": decided("top-up", "A deposit into its account was asked for"),
};

export const incidentReopened = fact("incident.reopened", { round: whole });
