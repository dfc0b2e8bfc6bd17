import { LINE } from "../../contracts/line-states.ts";
import {
  appendAuditEntries,
  type AuditEntry,
  isAsWritten,
  listAudit,
  type NewAuditEntry,
} from "./audit.ts";
import type { Db } from "../sql/db.ts";

/** How many neighbors in a plan share an entry about what happens to several of them at once. */
const LINES_A_PART = 500;

type Details = Readonly<Record<string, unknown>>;

/** The same thing that happens to several lines of one run. */
export interface LineEntries extends Omit<NewAuditEntry, "subject" | "details"> {
  readonly runId: string;
  /** What is the same for all of them. */
  readonly details?: Details;
  readonly lines: readonly {
    readonly payableId: string;
    /** Its place in the plan. */
    readonly lineNo: number;
    readonly details?: Details;
  }[];
}

/**
 * Adds to the trail what happens to lines of a run: an entry for a single line under its payable,
 * and one for several neighbors under their part of the plan, with `each` of them in its details. A
 * hundred thousand bills then take some hundred entries, and a bill's are still found by index.
 */
export async function appendOfLines(
  trx: Db,
  { runId, details = {}, lines, ...entry }: LineEntries,
): Promise<void> {
  const parts = Map.groupBy(lines, ({ lineNo }) => partOf(runId, lineNo));
  const entries = [...parts].map(([part, ofPart]): NewAuditEntry => {
    const [first] = ofPart;
    if (ofPart.length === 1 && first !== undefined) {
      return { ...entry, subject: first.payableId, details: { ...details, ...first.details } };
    }
    const each = ofPart.map((line) => ({ payableId: line.payableId, ...line.details }));
    return { ...entry, subject: part, details: { ...details, each } };
  });
  await appendAuditEntries(trx, entries);
}

/** What entries say of lines that are planned. */
const PLANNED: readonly string[] = [
  ...LINE.beginning.map((to) => `line:${to}`),
  "line:planned-anew",
];

interface PlannedLine {
  readonly payableId: string;
  readonly lineHash?: string;
}

interface PlannedDetails extends Omit<PlannedLine, "payableId"> {
  /** Missing in entries of a first plan, whose author is the run. */
  readonly runId?: string;
  /** Missing if the entry is about its subject. */
  readonly each?: readonly PlannedLine[];
}

/** Returns the hashes with which lines of a run were last planned, as the trail has them. */
export async function plannedHashes(
  db: Db,
  runId: string,
  lines: readonly {
    readonly businessId: string;
    readonly payableId: string;
    readonly lineNo: number;
  }[],
): Promise<Map<string, string>> {
  const said = new Map<string, string>();
  const [first] = lines;
  if (first === undefined) return said;
  const { businessId } = first;
  const parts = lines.map(({ lineNo }) => partOf(runId, lineNo));
  const subject = [...new Set([...parts, ...lines.map(({ payableId }) => payableId)])];
  for (const entry of await listAudit(db, { businessId, subject, actions: PLANNED })) {
    const { runId: of = entry.actor, each = [{ payableId: entry.subject, ...entry.details }] } =
      entry.details as PlannedDetails;
    if (of !== runId || !isAsWritten(entry)) continue;
    for (const { payableId, lineHash } of each) {
      if (lineHash !== undefined) said.set(payableId, lineHash);
    }
  }
  return said;
}

/** Returns the subject of entries about several neighbors in a plan. */
export function partOf(runId: string, lineNo: number): string {
  const first = Math.floor((lineNo - 1) / LINES_A_PART) * LINES_A_PART + 1;
  return `${runId}/lines/${first}-${first + LINES_A_PART - 1}`;
}

/**
 * Returns the entries about a bill, first to last: its own, and those that it shares with its
 * neighbors in the plans of these runs. A shared entry comes with only what it says about this
 * bill.
 */
export async function listAuditOfPayable(
  db: Db,
  payable: { readonly businessId: string; readonly payableId: string },
  lines: readonly { readonly runId: string; readonly lineNo: number }[],
): Promise<AuditEntry[]> {
  const { businessId, payableId } = payable;
  const own = await listAudit(db, { businessId, subject: payableId });
  const parts = [...new Set(lines.map(({ runId, lineNo }) => partOf(runId, lineNo)))];
  const shared = parts.length === 0 ? [] : await listAudit(db, { businessId, subject: parts });
  const mine = shared.flatMap((entry) => {
    const { each, ...common } = entry.details;
    const item = Array.isArray(each) ? each.find((one) => isOf(one, payableId)) : undefined;
    return item === undefined ? [] : [{ ...entry, details: { ...common, ...(item as Details) } }];
  });
  return [...own, ...mine].sort((one, other) => one.auditId - other.auditId);
}

function isOf(item: unknown, payableId: string): boolean {
  return typeof item === "object" && item !== null && "payableId" in item
    ? item.payableId === payableId
    : false;
}
