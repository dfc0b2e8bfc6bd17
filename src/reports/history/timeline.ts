import { type AuthorKind } from "../../contracts/authors.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { stageText } from "../../domain/approvals/stages.ts";
import { ONLY_PLANS } from "../../domain/plan-only.ts";
import { spokenDate } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import { refusalText } from "../../domain/planning/decided-before.ts";
import { sumText } from "../../domain/planning/vendor-sums.ts";
import { refusalsOf } from "../../store/approvals/decided-before.ts";
import { APPROVAL_GIVEN, type AuditEntry } from "../../store/audit/audit.ts";
import type { Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import { eventsOfPayable, leftOutOf, planningsOf } from "../../store/lines/payable-history.ts";
import type { BillApproval } from "./approvals.ts";
import type { confirmedOf } from "./deciders.ts";

interface TimelineEntry {
  readonly atMs: number;
  readonly kind: string;
  readonly text: string;
  readonly runId?: string;
  readonly by?: string;
  readonly byKind?: AuthorKind;
}

/** Returns everything that happened to a bill, first to last. */
export async function timelineOf(
  db: Db,
  bill: {
    readonly businessId: string;
    readonly payableId: string;
    readonly trail: readonly AuditEntry[];
    readonly holds: readonly Hold[];
    readonly approvals: readonly BillApproval[];
    readonly confirmed: Awaited<ReturnType<typeof confirmedOf>>;
  },
) {
  const { businessId, payableId, trail, holds } = bill;
  const timeline: TimelineEntry[] = [
    ...(await plannings(db, businessId, payableId)),
    ...(await leftOut(db, businessId, payableId)),
    ...bill.approvals.map(({ at, by, runId, roles, stage, escalated, ...said }) => ({
      atMs: Date.parse(at),
      kind: "approved",
      text: `Approved by ${by} (${roles.join(", ")})${stageNote(stage, escalated)}${hurryNote(said.hurry)}${verifiedNote(said.verifiedBankChange)}`,
      runId,
      by,
    })),
    ...bill.confirmed.map(({ at, by, runId, roles, hurry }) => ({
      atMs: Date.parse(at),
      kind: "confirmed",
      text: `${by} (${roles.join(", ")}) said that its vendor's account is still right${hurryNote(hurry)}`,
      runId,
      by,
    })),
    ...(await refusals(db, businessId, payableId)),
    ...(await events(db, businessId, payableId)),
    ...holds.flatMap(ofHold),
    ...storyOf(trail),
  ];
  return timeline
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ atMs, ...entry }) => ({ at: new Date(atMs).toISOString(), ...entry }));
}

/**
 * Returns the trail's entries as a story. That a bill waits for an approval appears only if it ends
 * a hold.
 */
function storyOf(trail: readonly AuditEntry[]): TimelineEntry[] {
  let wasHeld = false;
  return trail.flatMap((entry) => {
    const { action } = entry;
    const isLifted = wasHeld && action === "line:awaiting-approval";
    if (action.startsWith("line:")) wasHeld = action === "line:on-hold";
    if (isLifted) return [{ ...ofEntry(entry), text: "No longer on hold" }];
    // Approvals are shown as the store has them.
    const isShown = action.startsWith("line:awaiting") || action === APPROVAL_GIVEN;
    return isShown ? [] : [ofEntry(entry)];
  });
}

function verifiedNote(verified: BillApproval["verifiedBankChange"]): string {
  if (verified === null) return "";
  return `; the vendor's new bank account was verified with ${verified.person}, called on ${verified.phone}`;
}

function hurryNote(hurry: string | null): string {
  return hurry === null ? "" : `, hurried: ${hurry}`;
}

function stageNote(stage: number, escalated: boolean): string {
  const after = escalated ? ", after it was escalated" : "";
  return `${stage === 1 ? "" : ` in stage ${stage}`}${after}`;
}

async function plannings(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await planningsOf(db, businessId, payableId);
  return found.map(({ runId, line, createdAtMs, policy }) => {
    const needs =
      line.stages?.map(stageText).join(", then ") ??
      `${line.quorum} of ${line.approvers.join(", ")}`;
    const because = sumText(line, policy.approve);
    const why = because === undefined ? "" : `, because ${because}`;
    const again = line.version > 1 ? ` (version ${line.version})` : "";
    return {
      atMs: createdAtMs,
      kind: "planned",
      text: `Planned${again}: ${formatUsd(line.amountCents)} on ${spokenDate(line.executionDate)}, arriving ${spokenDate(line.arrivalDate)}; needs ${needs}${why}${oddText(line)}`,
      runId,
    };
  });
}

/** Repeats what the plan showed to its approvers. */
function oddText({ flags }: PlanLine): string {
  const odd = flags.filter(({ kind }) => kind !== "late").map(({ text: said }) => said);
  return odd.length === 0 ? "" : `. Worth a look: ${odd.join(" ").replace(/\.$/, "")}`;
}

async function refusals(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await refusalsOf(db, businessId, [payableId]);
  return found.map((refusal) => ({
    atMs: refusal.atMs,
    kind: refusal.how === "rejected" ? "rejected" : "dropped",
    text: refusalText(refusal),
    runId: refusal.runId,
    by: refusal.principal,
  }));
}

async function leftOut(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await leftOutOf(db, businessId, payableId);
  return found.map(({ runId, skipped, launchedAtMs }) => ({
    atMs: launchedAtMs,
    kind: "left-out",
    text: `Not in the plan: ${skipped.text}`,
    runId,
  }));
}

async function events(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await eventsOfPayable(db, businessId, payableId);
  return found.map(({ type, receivedAtMs, via }) => ({
    atMs: receivedAtMs,
    kind: "event",
    text: `An event says: ${EVENTS[type] ?? spoken(type)}${via === "deliveries" ? " (found in the list of deliveries)" : ""}`,
  }));
}

const EVENTS: Readonly<Record<string, string>> = {
  "payable.created": "the bill was entered",
  "payable.approved": "the bill was approved",
  "payable.declined": "the bill was declined",
  "payable.cancelled": "the bill was cancelled",
  "payable.approval_reset": "the bill's approval was taken back",
  "payable.payment.scheduled": "a payment was scheduled",
  "payable.payment.partially_paid": "a part was paid",
  "payable.paid": "it was paid",
  "payable.payment.failed": "a payment failed",
  "payable.payment.reversed": "a payment came back",
};

/** Returns a name from the code as words. */
function spoken(name: string): string {
  return name.replaceAll(/[-._:]/g, " ");
}

function ofHold(hold: Hold): TimelineEntry[] {
  const { author, authorKind, reason, createdAtMs, releasedAtMs } = hold;
  const by = { by: author, byKind: authorKind };
  const set = { atMs: createdAtMs, kind: "hold", text: `On hold: ${reason}`, ...by };
  if (releasedAtMs === null) return [set];
  const lifter = {
    by: hold.releasedBy ?? "a person",
    byKind: hold.releasedByKind ?? ("principal" as const),
  };
  return [set, { atMs: releasedAtMs, kind: "hold", text: `Hold lifted: ${reason}`, ...lifter }];
}

function ofEntry(entry: AuditEntry): TimelineEntry {
  const { atMs, action, details } = entry;
  const by = { by: entry.actor, byKind: entry.actorKind };
  const [family = "", what = ""] = action.split(/[:.]/, 2);
  const known = TEXTS[action]?.(details);
  if (known !== undefined) return { atMs, ...by, kind: KINDS[action] ?? family, text: known };
  if (family === "line") {
    const text = `Now ${spoken(what)}${why(details, what)}`;
    return { atMs, ...by, kind: "line", text };
  }
  if (family === "alarm") {
    return {
      atMs,
      ...by,
      kind: "alarm",
      text: `Alarm: ${spoken(what)}${why(details)}`,
    };
  }
  if (family === "cancel-payment") {
    const text = `Cancel of its payment: ${spoken(what)}${inBrackets(details["reason"])}`;
    return { atMs, ...by, kind: "cancel", text };
  }
  const recorded = spoken(action);
  const words = recorded.charAt(0).toUpperCase() + recorded.slice(1);
  return { atMs, ...by, kind: "recorded", text: `${words}${why(details)}` };
}

type Details = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, string>> = {
  "attempt.sending": "sending",
  "attempt.answered": "answered",
  "attempt.looked-up": "looked-up",
};

const TEXTS: Readonly<Record<string, (details: Details) => string>> = {
  "attempt.sending": ({ seq, send, amountCents }) =>
    `Request ${text(seq)}, send ${text(send)}: ${formatUsd(Number(amountCents ?? 0))}`,
  "attempt.answered": (details) =>
    `Request ${text(details["seq"])}: ${text(details["result"])}${inBrackets(details["status"], details["code"])}${line(details)}`,
  "attempt.looked-up": ({ seq, verdict, shown, isConclusive }) =>
    `Looked up request ${text(seq)}: ${text(verdict)}, ${text(shown)} ${shown === 1 ? "payment" : "payments"} shown${isConclusive === true ? ", after its window" : ""}`,
  "attempt.adopted": () => "The payment that the lookup found counts as the requested one",
  "attempt.refused": ({ seq, why: reason }) => `Request ${text(seq)} not sent: ${text(reason)}`,
  "line:cancelled": (details) =>
    details["reasonCode"] === "dropped" ? "Left out of its run" : `Cancelled${why(details)}`,
  "line:planned": (details) =>
    givenIn(details) === "approved"
      ? "Has every approval that it needs"
      : `Now planned${why(details, "planned")}`,
  "payable.resolved-retry": ({ reason }) => `To be tried again${inBrackets(reason)}`,
  "payable.resolved-paid-elsewhere": ({ reason }) =>
    `Said to be paid elsewhere${inBrackets(reason)}`,
  "payable.resolved-give-up": ({ reason }) => `Given up${inBrackets(reason)}`,
  "withheld-bill:withheld": ({ reason }) => `Still held back${inBrackets(reason)}`,
  "withheld-bill:released": ({ reason }) => `No longer held back${inBrackets(reason)}`,
  "withheld-bill:too-late": ({ reason }) => `Could not be held back${inBrackets(reason)}`,
  "line:skipped": () => `Only planned: nothing is sent, since ${ONLY_PLANS}`,
  "handed-to-retry": () => "Handed to its retry",
  "incident.opened": ({ code }) => `Its funding account is on hold for all runs${inBrackets(code)}`,
  "incident.released": ({ reason }) => `Its funding account was released${inBrackets(reason)}`,
  "incident.other-source": ({ reason }) =>
    `Its funding account stays on hold, another one is to pay${inBrackets(reason)}`,
  "incident.top-up": ({ reason }) =>
    `A deposit into its account was asked for${inBrackets(reason)}`,
};

function line(details: Details): string {
  return typeof details["line"] === "string" ? `; line ${details["line"]}` : "";
}

/** @param said what the text already says */
function why(details: Details, said?: string): string {
  const given = givenIn(details);
  if (given === said) return "";
  return inBrackets(typeof given === "string" && KEBAB.test(given) ? spoken(given) : given);
}

function givenIn({ reasonCode, why: reason, code, outcome }: Details): unknown {
  return reasonCode ?? reason ?? code ?? outcome;
}

/**
 * Names from the code, such as `run_cancelled`; texts for people and codes like `R08` stay as they
 * are.
 */
const KEBAB = /^[a-z]+(-[a-z]+)+$/;

function inBrackets(...values: readonly unknown[]): string {
  const said = values.filter((value) => value !== undefined && value !== null).map(text);
  return said.length === 0 ? "" : ` (${said.join(" ")})`;
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}
