import { isoInstant } from "../clock/instants.ts";
import { createPublicKey, verify } from "node:crypto";
import { DAY_MS } from "../../contracts/durations.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { repeatedMember } from "../repeated-member.ts";
import {
  areAlone,
  CONFIRMED_ALONE,
  CONFIRMED_FORM,
  type ConfirmedRecord,
  readConfirmedRecords,
} from "./changed-records.ts";
import { readVerifiedBankChanges, type VerifiedBankChange } from "./bank-changes.ts";

/** A key with which another system signs decisions. */
export interface SignerKey {
  readonly keyId: string;
  /** The principal that decides with it, the same person as a token of that name. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Ed25519 public key, base64 of its DER (SubjectPublicKeyInfo). */
  readonly publicKey: string;
}

/** A decision with a valid signature. */
export interface SignedDecision {
  readonly key: SignerKey;
  /** The signer's id of this decision; each id is accepted once. */
  readonly id: string;
  readonly decision: "approve" | "reject";
  readonly planHash: string;
  readonly drop: readonly string[];
  readonly comment: string | undefined;
  readonly verifiedBankChanges: readonly VerifiedBankChange[];
  /** The changed records that it is about; undefined for a decision about bills. */
  readonly confirmedRecords?: readonly ConfirmedRecord[];
  /** The deposit that it is about; undefined for a decision about bills. */
  readonly topUpHash: string | undefined;
  readonly expiresAtMs: number;
}

export type SignedRefusalCode =
  | "malformed"
  | "unknown_key"
  | "bad_signature"
  | "wrong_principal"
  | "foreign"
  | "expired"
  | "not_yet_valid"
  | "lives_too_long";

export type SignedReading =
  | { readonly ok: true; readonly signed: SignedDecision }
  | {
      readonly ok: false;
      readonly code: SignedRefusalCode;
      /** One sentence for the sender. */
      readonly reason: string;
      /** The key that the decision names, known or not. */
      readonly keyId?: string;
      /** Present if only its time has passed: it may have been taken before. */
      readonly late?: SignedDecision;
    };

/** The audience claim: a signature made for another purpose is not a decision. */
const AUDIENCE = "payrun";

/** Long enough for a decision that drops ten thousand bills. */
export const ENVELOPE_MAX_CHARS = 600_000;

/** Allowed difference between two systems' clocks. */
const SKEW_MS = 300_000;

/** A decision that took more than a day to arrive should be made again. */
const LIFE_MAX_MS = DAY_MS;

/** Everything that a decision may say; another program may mean something by any other claim. */
const CLAIMS = new Set([
  "iss",
  "aud",
  "sub",
  "jti",
  "iat",
  "exp",
  "decision",
  "planHash",
  "drop",
  "comment",
  "verifiedBankChanges",
  "topUpHash",
  "confirmedRecords",
]);

const DROPPED_MAX = 10_000;
const WORD = /^[\x21-\x7e]{1,200}$/;

/**
 * Reads a decision in JWS compact form (RFC 7515) and finds out who signed it.
 *
 * The signature covers exactly the bytes that were sent, so no canonical form is needed. The only
 * algorithm is Ed25519 (RFC 8037); the header can't select another.
 *
 * @param expected `runId`: the run that it must name; `signers`: the keys of its business
 */
export function readSignedDecision(
  envelope: string,
  expected: {
    readonly runId: string;
    readonly signers: readonly SignerKey[];
    /** Real time. */
    readonly nowMs: number;
  },
): SignedReading {
  if (envelope.length > ENVELOPE_MAX_CHARS) {
    return refuse("malformed", `it is longer than ${ENVELOPE_MAX_CHARS} characters`);
  }
  const parts = envelope.trim().split(".");
  const [header = "", claims = "", signature = ""] = parts;
  const { object: head, repeated } = jsonIn(header);
  if (parts.length !== 3 || head === undefined) {
    return refuse(
      "malformed",
      "it is not a signed decision: send header.claims.signature, each in base64url (docs/approvals.md)",
    );
  }
  if (repeated !== undefined) {
    // Names nothing: the reason goes into the trail, and nobody has signed this yet.
    return refuse("malformed", "its header has a name twice");
  }
  const keyId = head["kid"];
  if (typeof keyId !== "string" || !WORD.test(keyId)) {
    return refuse("malformed", "its header has no kid, the id of the key it is signed with");
  }
  if (head["alg"] !== "EdDSA" && head["alg"] !== "Ed25519") {
    return refuse("malformed", "its header's alg must be EdDSA: keys are Ed25519", keyId);
  }
  if (head["crit"] !== undefined) {
    return refuse(
      "malformed",
      "its header names extensions (crit) that Payrun doesn't support",
      keyId,
    );
  }
  const key = expected.signers.find((each) => each.keyId === keyId);
  if (key === undefined) {
    return refuse("unknown_key", `the business has no signer with the key id ${keyId}`, keyId);
  }
  if (!isSignedBy(key, `${header}.${claims}`, signature)) {
    return refuse("bad_signature", `its signature is not by the key ${keyId}`, keyId);
  }
  return readClaims(jsonIn(claims), key, expected);
}

function readClaims(
  { object: claims, repeated }: JsonPart,
  key: SignerKey,
  { runId, nowMs }: { readonly runId: string; readonly nowMs: number },
): SignedReading {
  const no = (code: SignedRefusalCode, reason: string): SignedReading =>
    refuse(code, reason, key.keyId);
  if (claims === undefined) return no("malformed", "its claims are not a JSON object");
  if (repeated !== undefined) {
    return no("malformed", `it has ${quoted(repeated)} twice, so what it means is not clear`);
  }
  const unknown = Object.keys(claims).find((name) => !CLAIMS.has(name));
  if (unknown !== undefined) {
    return no("malformed", `it has a claim that Payrun doesn't know: ${quoted(unknown)}`);
  }
  const { decision, planHash, comment, jti, iat, exp } = claims;
  const drop = claims["drop"] ?? [];
  if (decision !== "approve" && decision !== "reject") {
    return no("malformed", "decision must be approve or reject");
  }
  if (typeof planHash !== "string" || !WORD.test(planHash)) {
    return no("malformed", "planHash must be the hash of the plan that you saw");
  }
  if (typeof jti !== "string" || !WORD.test(jti)) {
    return no("malformed", "jti must be an id of this decision: 1 to 200 characters, no spaces");
  }
  if (!isListOfIds(drop)) return no("malformed", "drop must be a list of payable ids");
  if (comment !== undefined && (typeof comment !== "string" || comment.length > 1_000)) {
    return no("malformed", "comment must be text of at most 1,000 characters");
  }
  const verifiedBankChanges = readVerifiedBankChanges(claims["verifiedBankChanges"] ?? []);
  if (verifiedBankChanges === undefined) {
    return no(
      "malformed",
      "verifiedBankChanges must be a list of { contactId, person, phone }, each text, and nothing else",
    );
  }
  const confirmedRecords = readConfirmedRecords(claims["confirmedRecords"]);
  if (confirmedRecords === undefined) return no("malformed", CONFIRMED_FORM);
  const topUpHash = claims["topUpHash"];
  if (topUpHash !== undefined && (typeof topUpHash !== "string" || !WORD.test(topUpHash))) {
    return no("malformed", "topUpHash must be the hash of the deposit that you saw");
  }
  if (confirmedRecords !== null && !areAlone({ drop, verifiedBankChanges, topUpHash })) {
    return no("malformed", `confirmedRecords ${CONFIRMED_ALONE}`);
  }
  const issuedAtMs = msOf(iat);
  const expiresAtMs = msOf(exp);
  if (issuedAtMs === undefined || expiresAtMs === undefined) {
    return no("malformed", "iat and exp must be seconds since 1970");
  }
  if (claims["iss"] !== key.name) {
    return no("wrong_principal", `iss must be ${key.name}, whose key ${key.keyId} is`);
  }
  if (claims["aud"] !== AUDIENCE) return no("foreign", `aud must be ${AUDIENCE}`);
  if (claims["sub"] !== runId) return no("foreign", `it is for another run than ${runId}`);
  if (issuedAtMs > nowMs + SKEW_MS) return no("not_yet_valid", "it was issued in the future");
  if (expiresAtMs - issuedAtMs > LIFE_MAX_MS) {
    return no("lives_too_long", "exp must be within a day of iat");
  }
  const signed: SignedDecision = {
    key,
    id: jti,
    decision,
    planHash,
    drop,
    comment,
    verifiedBankChanges,
    topUpHash,
    expiresAtMs,
    ...(confirmedRecords === null ? {} : { confirmedRecords }),
  };
  if (expiresAtMs > nowMs) return { ok: true, signed };
  const reason = `it expired at ${isoInstant(expiresAtMs)}`;
  return { ok: false, code: "expired", reason, keyId: key.keyId, late: signed };
}

function isSignedBy(key: SignerKey, text: string, signature: string): boolean {
  const bytes = bytesIn(signature);
  if (bytes?.length !== 64) return false;
  const publicKey = createPublicKey({
    key: Buffer.from(key.publicKey, "base64"),
    format: "der",
    type: "spki",
  });
  return (
    publicKey.asymmetricKeyType === "ed25519" && verify(null, Buffer.from(text), publicKey, bytes)
  );
}

/**
 * Decodes base64url as RFC 7515 defines it; undefined for any other text, so that bytes have one
 * spelling.
 */
function bytesIn(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.length > 0 && bytes.toString("base64url") === text ? bytes : undefined;
}

interface JsonPart {
  /** Undefined if the part is no JSON object. */
  readonly object?: Readonly<Record<string, unknown>>;
  /** A name that it, or an object in it, has twice. */
  readonly repeated?: string | undefined;
}

function jsonIn(part: string): JsonPart {
  const bytes = bytesIn(part);
  if (bytes === undefined) return {};
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject
      ? { object: value as Record<string, unknown>, repeated: repeatedMember(text) }
      : {};
  } catch {
    return {};
  }
}

/** Returns a name as the answer shows it, however long it is. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 50));
}

function isListOfIds(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= DROPPED_MAX &&
    value.every((each) => typeof each === "string" && WORD.test(each))
  );
}

function msOf(seconds: unknown): number | undefined {
  const isInstant = typeof seconds === "number" && seconds > 0 && seconds < 1e11;
  return isInstant ? Math.floor(seconds * 1000) : undefined;
}

function refuse(code: SignedRefusalCode, reason: string, keyId?: string): SignedReading {
  return { ok: false, code, reason, ...definedOnly({ keyId }) };
}
