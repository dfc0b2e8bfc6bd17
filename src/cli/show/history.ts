import { spokenStamp, zoneName } from "../../domain/clock/spoken.ts";
import { isSetByPayrun } from "../../domain/holds.ts";
import { formatUsd } from "../../domain/money.ts";
import { shownAmount } from "../../domain/payments/line-parts.ts";
import { othersTitle } from "../../domain/payments/others-texts.ts";
import { isSaidBy } from "../../domain/payments/paid-once.ts";
import { bold, dim, green, printable, red, textTable, yellow } from "../terminal/text.ts";
import type { NamedView } from "../../api/names.ts";
import type { PayableHistory } from "../../api/history.ts";
import { heldName } from "./holds.ts";
import { resolveHint } from "./resolve-hint.ts";

/** Lines of "what happened" that fit beside the rest; the middle of a longer story is left out. */
const STORY = { first: 3, last: 9 } as const;

/** Kinds of events that the sections above the story already show. */
const SHOWN_ABOVE: readonly string[] = [
  "approved",
  "confirmed",
  "sending",
  "answered",
  "looked-up",
  "hold",
];

/** Describes a bill on one screen: the conclusion first, then the evidence for it. */
export function historyLines(
  history: PayableHistory,
  named?: Pick<NamedView, "number" | "name" | "amountCents">,
): string[] {
  const { attempts, cancels, zone } = history;
  const bill = history.bill ?? history.leftOut ?? asNamed(named);
  const facts = [
    ...(bill === null ? [] : [shownAmount({ state: history.state ?? "planned", ...bill })]),
    ...(bill?.dueDate == null ? [] : [`due ${bill.dueDate}`]),
    history.givenBack ? "given back for the next run" : (history.state ?? "in no run's plan"),
  ];
  const [conclusion = "", ...reasons] = history.paidOnce.sentences;
  return [
    `${titleOf(history, bill)}  ${facts.join(" · ")}`,
    dim(`  times are those of ${zoneName(zone)}`),
    ...(history.reason === null || isSaidBy(history.paidOnce, history.reason)
      ? []
      : [`  ${printable(history.reason)}`]),
    ...resolveLines(history),
    ...(history.owner === null ? [] : [dim(`  owned by ${history.owner}`)]),
    `  ${coloured(history.paidOnce.verdict, printable(conclusion))}`,
    ...reasons.map((reason) => `  - ${printable(reason)}`),
    ...section("Approved", approvalLines(history)),
    ...section("Said that the vendor's account is still right", confirmedLines(history)),
    ...section("Did not count", refusedLines(history)),
    ...section(
      "Requests",
      attempts.flatMap((each) => attemptLines(each, zone)),
    ),
    ...section("Payments", paymentLines(history)),
    ...section(othersTitle(history), history.externalPayments.map(externalLine)),
    ...section("Retry", retryLines(history)),
    ...section(
      "Deposits",
      history.deposits.flatMap((each) => depositLines(each, zone)),
    ),
    ...section(
      "Cancels",
      cancels.flatMap((each) => attemptLines(each, zone)),
    ),
    ...section("Cancellations", cancellationLines(history)),
    ...section("Holds", holdLines(history)),
    ...section("What happened", storyLines(history)),
  ];
}

function resolveLines({ state, givenBack, payableId, bill, reasonCode }: PayableHistory): string[] {
  if (state === null || givenBack) return [];
  const publicId = bill?.publicId ?? null;
  return resolveHint([{ state, payableId, publicId, reasonCode }]).map((line) => `  ${line}`);
}

/** Describes a bill that is in no plan, as the service names it. */
function asNamed(named: Pick<NamedView, "number" | "name" | "amountCents"> | undefined) {
  if (named?.amountCents == null) return null;
  const { number: publicId, name: contactName, amountCents } = named;
  return { publicId, contactName, amountCents, dueDate: null };
}

/** Names the bill with vendor and number first, as people do, then its id. */
function titleOf(
  { bill: planned, payableId }: PayableHistory,
  bill: { readonly publicId: string | null; readonly contactName: string | null } | null,
): string {
  const { publicId = null, contactName = null } = bill ?? {};
  const name = [contactName ?? planned?.contactId, publicId]
    .flatMap((word) => word ?? [])
    .join(" ");
  return name === "" ? bold(payableId) : `${bold(printable(name))} ${dim(payableId)}`;
}

type External = PayableHistory["externalPayments"][number];

function externalLine({ id, amountCents, status }: External): string {
  return `${id}  ${formatUsd(amountCents)}  ${bold(printable(status))}`;
}

function coloured(verdict: PayableHistory["paidOnce"]["verdict"], text: string): string {
  if (verdict === "paid-once") return green(text);
  return verdict === "too-much" ? red(text) : yellow(text);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", bold(title), ...lines.map((line) => `  ${line}`)];
}

type Approval = PayableHistory["approvals"][number];

function approvalLines({ approvals, zone }: PayableHistory): string[] {
  return approvals.flatMap((approval) => {
    const { planHash, runId, expiresAt } = approval;
    return [
      approverText(approval, zone),
      dim(`  plan ${planHash.slice(0, 16)} of ${runId}, until ${spokenStamp(expiresAt, zone)}`),
      ...verifiedLines(approval),
    ];
  });
}

function verifiedLines({ verifiedBankChange: verified }: Approval): string[] {
  if (verified === null) return [];
  const { person, phone } = verified;
  return [`  new bank account verified with ${printable(person)}, called on ${printable(phone)}`];
}

function confirmedLines({ confirmed, zone }: PayableHistory): string[] {
  return confirmed.flatMap(({ at, by, roles, runId, records, comment, hurry }) => [
    `${spokenStamp(at, zone)}  ${bold(printable(by))} (${roles.join(", ")})${hurry === null ? "" : `, hurried: ${hurry}`}${comment === null ? "" : `: ${printable(comment)}`}`,
    dim(`  record of ${records.map((each) => each.updatedAt).join(", ")}, in ${runId}`),
  ]);
}

function refusedLines({ refused, zone }: PayableHistory): string[] {
  return refused.map(({ at, by, code, reason, times }) => {
    const often = times > 1 ? ` ×${times}` : "";
    return `${spokenStamp(at, zone)}  ${bold(printable(by))}: ${printable(reason === "" ? code : reason)}${often}`;
  });
}

function approverText(approval: Approval, zone: string): string {
  const { at, by, roles, proof, proofId, stage, escalated, alone, hurry } = approval;
  const notes = [
    ...(alone === true ? ["as the one person who launches and approves here"] : []),
    ...(stage === 1 ? [] : [`in stage ${stage}`]),
    ...(escalated === true ? ["after it was escalated"] : []),
    ...(hurry === null ? [] : [`hurried: ${hurry}`]),
  ];
  const note = notes.map((text) => `, ${text}`).join("");
  return `${spokenStamp(at, zone)}  ${bold(printable(by))} (${roles.join(", ")})${note}, by ${proof} ${printable(proofId ?? "")}`;
}

type Attempt = PayableHistory["attempts"][number];

function attemptLines(attempt: Attempt, zone: string): string[] {
  const { seq, operation, state, amountCents, executionDate, idempotencyKey, bodyHash } = attempt;
  // For a request that a restored store has lost, only the effect is known.
  const isKnown = attempt.sends.length > 0;
  const answer = attempt.answer === null ? "" : `, ${printable(attempt.answer)}`;
  const sends = grouped(attempt.sends.map((send) => ({ at: send.at, text: sendText(send) })));
  const lookups = grouped(
    attempt.lookUps.map((lookup) => ({ at: lookup.at, text: lookupText(lookup) })),
  );
  return [
    `${seq}  ${operation}${amountCents === null ? ", of which only the effect is known" : ` ${formatUsd(amountCents)} for ${executionDate}`}: ${bold(state)}${answer}`,
    dim(`   key ${idempotencyKey}${isKnown ? `  body ${bodyHash.slice(0, 16)}` : ""}`),
    ...[...sends, ...lookups]
      .sort((one, other) => one.at.localeCompare(other.at))
      .map(({ at, text }) => `   ${spokenStamp(at, zone)}  ${text}`),
    ...(attempt.paymentIds.length === 0
      ? []
      : [`   ${operation === "cancel" ? "cancelled" : "made"} ${attempt.paymentIds.join(", ")}`]),
  ];
}

function sendText({ result, status, code }: Attempt["sends"][number]): string {
  if (result === "not-sent") return "did not leave";
  const facts = [status, code].filter((fact) => fact !== undefined).join(" ");
  return `sent: ${result}${facts === "" ? "" : ` (${facts})`}`;
}

function lookupText({ verdict, isConclusive, paymentIds }: Attempt["lookUps"][number]): string {
  const found = { adopt: `found ${paymentIds.join(", ")}`, none: "found nothing new" }[verdict];
  return `looked up: ${found ?? verdict}${isConclusive ? ", after its window" : ""}`;
}

/** Replaces consecutive repetitions of a text by one, with their number. */
function grouped(
  events: readonly { readonly at: string; readonly text: string }[],
): { at: string; text: string }[] {
  const groups: { at: string; text: string; times: number }[] = [];
  for (const { at, text } of events) {
    const last = groups.at(-1);
    if (last?.text === text) last.times += 1;
    else groups.push({ at, text, times: 1 });
  }
  return groups.map(({ at, text, times }) => ({
    at,
    text: times > 1 ? `${text} ×${times}` : text,
  }));
}

function paymentLines({ payments, zone }: PayableHistory): string[] {
  return textTable(
    [{}, { align: "right" }, {}, {}],
    payments.map(({ id, amountCents, status, seenAt, seq }) => [
      id,
      formatUsd(amountCents),
      bold(status),
      dim(`by request ${seq}${seenAt === null ? "" : `, seen ${spokenStamp(seenAt, zone)}`}`),
    ]),
  );
}

function retryLines({ retry, paidOnce }: PayableHistory): string[] {
  if (retry === null) return [];
  const { retriesMade, phase, reasonCode } = retry;
  const isSaid = retry.reason !== null && isSaidBy(paidOnce, retry.reason);
  const reason = isSaid ? null : retry.reason;
  // A bank's reason often begins with its code.
  const code = reasonCode !== null && reason?.startsWith(reasonCode) === true ? null : reasonCode;
  const why = [code, reason].filter((text) => text !== null).map(printable);
  return [
    `${retriesMade === 1 ? "1 retry" : `${retriesMade} retries`} made, ${[phase, ...why].join(": ")}`,
  ];
}

/** A deposit concerns a whole run, so its requests are shown without their sends. */
function depositLines(deposit: PayableHistory["deposits"][number], zone: string): string[] {
  const { subject, amountCents, state, transactionId, approvals, attempts } = deposit;
  const made = transactionId === null ? "" : ` as ${transactionId}`;
  return [
    `${formatUsd(amountCents)} into the balance: ${bold(state)}${made}  ${dim(subject)}`,
    ...approvals.map((approval) => `  approved ${approverText(approval, zone)}`),
    ...attempts.map(({ seq, state: ended, answer, idempotencyKey, sends }) =>
      dim(
        `  request ${seq} ${ended}${answer === null ? "" : `, ${printable(answer)}`}, sent ${sends.length}×, key ${idempotencyKey}`,
      ),
    ),
  ];
}

function cancellationLines({ cancellations }: PayableHistory): string[] {
  return cancellations.map(
    ({ id, paymentId, state, reason }) =>
      `${paymentId ?? "the bill"}: ${bold(state.replaceAll(/[-_]/g, " "))}${reason === null ? "" : `. ${printable(reason)}`} ${dim(id)}`,
  );
}

function holdLines({ holds, zone }: PayableHistory): string[] {
  return holds.map((hold) => {
    const { id, scope, author, reason, createdAt, releasedAt, releasedBy } = hold;
    const by = isSetByPayrun(hold) ? "payrun" : printable(author);
    const on = scope === "payable" ? "" : `, on ${heldName(hold)}`;
    const lifted =
      releasedAt === null
        ? ""
        : `; lifted ${spokenStamp(releasedAt, zone)} by ${printable(releasedBy ?? "")}`;
    return `${spokenStamp(createdAt, zone)}  ${by}${on}: ${printable(reason)}${lifted}  ${dim(id)}`;
  });
}

function storyLines({ timeline, zone }: PayableHistory): string[] {
  const story = grouped(
    timeline
      .filter(({ kind }) => !SHOWN_ABOVE.includes(kind))
      .map(({ at, text, by, runId }) => {
        const whose = by ?? runId;
        return {
          at,
          text: printable(text) + (whose === undefined ? "" : dim(`  ${printable(whose)}`)),
        };
      }),
  ).map(({ at, text }) => `${dim(spokenStamp(at, zone))}  ${text}`);
  const left = story.length - STORY.first - STORY.last;
  if (left <= 1) return story;
  const middle = dim(`… ${left} more: --json has all of them`);
  return [...story.slice(0, STORY.first), middle, ...story.slice(-STORY.last)];
}
