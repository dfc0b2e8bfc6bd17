import { hash } from "node:crypto";
import type { PayFields } from "../../contracts/pay-run.ts";
import {
  APPROVAL_COVERS,
  type ApprovalStage,
  type PayRunPlaybook,
} from "../../contracts/playbook.ts";
import { type CanonicalValue, canonicalJson, isList } from "../canonical-json.ts";

/** Everything that an approval of a line covers. */
export interface LineHashInput {
  /** The API's businessId. */
  readonly businessId: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  /** Last four digits of the contact's bank account; null if none is on file. */
  readonly bankLast4: string | null;
  /** As in `PlanLine`. */
  readonly newAccount?: string;
  readonly sourceId: string;
  /** The fields that a request takes from the source, the bank account included. */
  readonly pay: PayFields;
  readonly needsAchAuthorization: boolean;
  readonly clearing: string;
  readonly dateRule: string;
  /** Roles that its rule names: an approval under another rule does not count under this one. */
  readonly approvers: readonly string[];
  /** Number of different people that its rule requires. */
  readonly quorum: number;
  /** Stages of its rule, if it has any. */
  readonly stages?: readonly ApprovalStage[];
  /** As in `PlanLine`. */
  readonly sumRules?: readonly number[];
}

/**
 * Returns the hash of one line of a plan: 64 hex characters.
 *
 * The date is part of it only if the date rule names a date. A line with the rule "by its due date,
 * else the next business day" keeps its approval when a day passes.
 */
export function lineHash(input: LineHashInput): string {
  const stages: Plain<LineHashInput["stages"]> = input.stages;
  return sha256({
    v: "line-1",
    businessId: input.businessId,
    payableId: input.payableId,
    contactId: input.contactId,
    amountCents: input.amountCents,
    bankLast4: input.bankLast4,
    newAccount: input.newAccount,
    sourceId: input.sourceId,
    pay: { ...input.pay },
    needsAchAuthorization: input.needsAchAuthorization,
    clearing: input.clearing,
    dateRule: input.dateRule,
    approvers: [...input.approvers].sort(),
    quorum: input.quorum,
    stages: wordsSorted(stages),
    sumRules: input.sumRules,
  });
}

/**
 * Returns the hash of a whole plan: its lines (in any order), the playbook's revision and its
 * policy.
 *
 * @returns 64 hex characters
 */
export function planHash(input: {
  readonly lineHashes: readonly string[];
  readonly playbook: string;
  readonly playbookRevision: number;
  readonly policyHash: string;
}): string {
  return sha256({
    v: "plan-1",
    lines: [...input.lineHashes].sort(),
    playbook: input.playbook,
    playbookRevision: input.playbookRevision,
    policyHash: input.policyHash,
  });
}

/**
 * Returns the hash of a playbook's requirements before money moves: approvals, reviews, limits,
 * validity. `APPROVAL_COVERS` has its keys.
 */
export function policyHash(playbook: PayRunPlaybook): string {
  const { pay, ...rest }: Plain<PayRunPlaybook> = playbook;
  const { pay: keysOfPay, ...keys } = APPROVAL_COVERS;
  return sha256({ v: "policy-1", ...coveredOf(rest, keys), pay: coveredOf(pay, keysOfPay) });
}

/** The same type without interfaces, which the type of canonical values doesn't accept. */
type Plain<T> = { readonly [Key in keyof T]: Plain<T[Key]> };

function coveredOf(
  values: Readonly<Record<string, CanonicalValue | undefined>>,
  keys: Readonly<Record<string, string>>,
): Readonly<Record<string, CanonicalValue | undefined>> {
  const covered = Object.entries(values).filter(([key]) => keys[key] === "covered");
  return Object.fromEntries(covered.map(([key, value]) => [key, wordsSorted(value)]));
}

/** Everything that an approval of a deposit covers. */
export interface TopUpHashInput {
  /** The API's businessId. */
  readonly businessId: string;
  /** The ledger's subject: funding source, workflow and number of the request. */
  readonly subject: string;
  readonly account: { readonly bankAccountId: string; readonly last4: string | null };
  readonly amountCents: number;
  /** The plan that needs the money. */
  readonly planHash: string;
}

/** Returns the hash of a deposit: 64 hex characters. */
export function topUpHash(input: TopUpHashInput): string {
  return sha256({
    v: "top-up-1",
    businessId: input.businessId,
    subject: input.subject,
    bankAccountId: input.account.bankAccountId,
    bankLast4: input.account.last4,
    amountCents: input.amountCents,
    planHash: input.planHash,
  });
}

/** Sorts every list of words in a value: roles and reasons count in any order. */
function wordsSorted(value: CanonicalValue | undefined): CanonicalValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (!isList(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, wordsSorted(member)]),
    );
  }
  const items = value.map((item) => wordsSorted(item) ?? null);
  return items.every((item) => typeof item === "string") ? items.toSorted() : items;
}

function sha256(value: CanonicalValue): string {
  return hash("sha256", canonicalJson(value));
}
