import { runDecisionRefused } from "../domain/facts/decisions.ts";
import { record } from "../store/facts/record.ts";
import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import { definedOnly } from "../contracts/defined-only.ts";
import type { ClockReading } from "../business/clock.ts";
import {
  readSignedDecision,
  type SignedDecision,
  type SignedReading,
  type SignedRefusalCode,
  type SignerKey,
} from "../domain/approvals/signed-decision.ts";
import { decisionsOfRun, type Decision } from "../store/approvals/decisions.ts";
import type { Tables } from "../store/index.ts";
import type { Run } from "../store/runs/runs.ts";
import {
  carriedOut,
  carryOutOnce,
  type KeyedRequest,
  keyedRequest,
  type Outcome,
} from "../store/requests/keyed-requests.ts";
import { findOne } from "../store/sql/records.ts";
import { topUpsOf } from "../store/deposits/deposits.ts";
import type { DecisionAnswer, DecisionRefusal } from "./take.ts";
import type { Deciding, NoteRefusal } from "./deciding.ts";
import { takeAnyDecision } from "./take-top-up.ts";

/** How a decision of the same id was judged before. */
type Taken = Pick<Decision, "decidedAtMs" | "outcome" | "reason">;

export interface SignedRefusal {
  readonly accepted: false;
  readonly code: SignedRefusalCode | "replayed" | DecisionRefusal["code"];
  readonly reason: string;
  /** If it was taken before: the decision of that time. */
  readonly earlier?: Taken;
}

type Judged = DecisionAnswer | SignedRefusal;

export interface SignedDelivery {
  readonly run: Run;
  /** JWS compact form, as it came. */
  readonly envelope: string;
  /** Keys of the run's business. */
  readonly signers: readonly SignerKey[];
  /** As in `Deciding`. */
  readonly singlePerson?: boolean | undefined;
  readonly clock: ClockReading;
  /** As in `Deciding`. */
  readonly others?: Deciding["others"];
  /** Real time. */
  readonly nowMs: number;
  /** How it came, for the audit trail: the channel has no influence on the verdict. */
  readonly via: string;
  readonly noteRefusal?: NoteRefusal;
}

/**
 * Judges a signed decision and stores it, once: the same one again gets the first outcome, and
 * another one with its id is refused as a replay.
 *
 * Refusals go into the audit trail. Only a decision whose signature is valid uses up its id, so
 * that nobody can spoil a decision by sending a broken copy first.
 */
export async function takeSignedDecision(
  trx: Transaction<Tables>,
  delivery: SignedDelivery,
): Promise<Judged> {
  const { run, envelope, signers, clock, nowMs, via } = delivery;
  const reading = readSignedDecision(envelope, { runId: run.runId, signers, nowMs });
  const effect = { businessId: run.businessId, part: "", nowMs };
  if (!reading.ok) {
    // A repeat may come late, as after an outage: what was taken in time stays taken.
    const first =
      reading.late && (await carriedOut<Judged>(trx, requestOf(delivery, reading.late), effect));
    if (first !== undefined) return asRepeated(first);
    await recordUnproven(trx, delivery, reading);
    return { accepted: false, code: reading.code, reason: reading.reason };
  }
  const { signed } = reading;
  const { key } = signed;
  const tokenId = signatureId(signed);
  const judge = async (): Promise<Judged> => {
    const earlier = await takenBefore(trx, run, tokenId);
    if (earlier !== undefined) return refuseReplay(trx, delivery, signed, earlier);
    const { decision, planHash, drop, comment } = signed;
    const { verifiedBankChanges, confirmedRecords, topUpHash } = signed;
    return takeAnyDecision(trx, {
      run,
      request: {
        decision,
        planHash,
        drop,
        comment,
        verifiedBankChanges,
        confirmedRecords,
        topUpHash,
      },
      principal: {
        tokenId,
        name: key.name,
        roles: key.roles,
      },
      singlePerson: delivery.singlePerson,
      clock,
      ...(delivery.others && { others: delivery.others }),
      nowMs,
      proof: { via, keyId: key.keyId, signedDecision: envelope.trim() },
    });
  };
  const taken = await carryOutOnce(trx, requestOf(delivery, signed), effect, judge);
  if ("kept" in taken) {
    const earlier = (await takenBefore(trx, run, tokenId)) ?? {
      decidedAtMs: taken.kept.createdAtMs,
      outcome: "refused",
      reason: null,
    };
    return refuseReplay(trx, delivery, signed, earlier);
  }
  return taken.isRepeat ? asRepeated(taken) : taken.value;
}

/** Returns the request that a decision is: its id is the key, so the same one again is a repeat. */
function requestOf({ run, envelope }: SignedDelivery, signed: SignedDecision): KeyedRequest {
  const { key } = signed;
  return keyedRequest(
    { name: key.name, roles: key.roles, businesses: [run.business] },
    {
      operation: "signed decision",
      key: `${run.runId} ${signatureId(signed)}`,
      businessId: run.businessId,
      content: claimsIn(envelope),
    },
  );
}

/** Returns the first outcome of a decision as its repeat gets it. */
function asRepeated({ value, firstAtMs }: Outcome<Judged>): Judged {
  return value.accepted ? { ...value, alreadySince: new Date(firstAtMs).toISOString() } : value;
}

/** Refuses another decision with the id of one that was taken. */
async function refuseReplay(
  trx: Transaction<Tables>,
  delivery: SignedDelivery,
  { key, id }: SignedDecision,
  earlier: Taken,
): Promise<SignedRefusal> {
  const at = new Date(earlier.decidedAtMs).toISOString();
  const reason = `a decision ${id} was taken before, at ${at}, and was ${earlier.outcome}`;
  await recordRefusal(trx, delivery, key.name, { code: "replayed", reason, keyId: key.keyId });
  return { accepted: false, code: "replayed", reason, earlier };
}

/** Returns the part of a signed decision that says what is decided. */
function claimsIn(envelope: string): string {
  return envelope.trim().split(".")[1] ?? "";
}

/**
 * Returns an earlier decision of this id. Decisions about a run's deposits are stored under the
 * deposits' own names.
 */
async function takenBefore(
  trx: Transaction<Tables>,
  { runId }: Run,
  tokenId: string,
): Promise<Taken | undefined> {
  const confirmed = await findOne(trx, "confirmed_records", { tokenId });
  if (confirmed !== undefined) return { ...confirmed, outcome: "accepted", reason: null };
  const names = [runId, ...(await topUpsOf(trx, runId)).map(({ subject }) => subject)];
  for (const name of names) {
    const [earlier] = await decisionsOfRun(trx, name, tokenId);
    if (earlier !== undefined) return earlier;
  }
  return undefined;
}

/** Returns the signature's id, which takes the place of the id of a token. */
function signatureId({ key, id }: SignedDecision): string {
  return `key/${key.keyId}/${id}`;
}

async function recordUnproven(
  trx: Transaction<Tables>,
  delivery: SignedDelivery,
  { code, reason, keyId }: Extract<SignedReading, { readonly ok: false }>,
): Promise<void> {
  // Without a valid signature, the real sender is unknown, whatever the decision claims.
  await recordRefusal(trx, delivery, delivery.via, {
    code,
    reason,
    ...definedOnly({ keyId }),
  });
}

async function recordRefusal(
  trx: Transaction<Tables>,
  { run, envelope, nowMs, via, noteRefusal }: SignedDelivery,
  actor: string,
  refusal: { readonly code: string; readonly reason: string; readonly keyId?: string },
): Promise<void> {
  const told = noteRefusal === undefined ? {} : noteRefusal(refusal.code);
  if (told === undefined) return;
  const head = { businessId: run.businessId, nowMs, by: actor, subject: run.runId };
  await record(
    trx,
    runDecisionRefused(head, {
      ...refusal,
      ...told,
      via,
      bytes: Buffer.byteLength(envelope),
      sha256: createHash("sha256").update(envelope).digest("hex"),
    }),
  );
}
