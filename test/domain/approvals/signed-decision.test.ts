import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readSignedDecision } from "../../../src/domain/approvals/signed-decision.ts";
import { makeSigner, signDecision } from "../../support/signing.ts";

const RUN = "pay-run/acme/weekly/2026-11-20";
const signer = makeSigner();
const other = makeSigner("crm", ["owner"]);
const NOW_S = Math.floor(Date.now() / 1000);
const CALL = { contactId: "c_1", person: "Ann Lee", phone: "+1 212 555 0100" };
const WORD = [{ contactId: "c_1", updatedAt: null }];
const claims = { sub: RUN, planHash: "a".repeat(64) };

function read(envelope: string): ReturnType<typeof readSignedDecision> {
  return readSignedDecision(envelope, { runId: RUN, signers: [signer], nowMs: Date.now() });
}

function codeOf(envelope: string): string {
  const reading = read(envelope);
  return reading.ok ? "ok" : reading.code;
}

describe("a signed decision", () => {
  test("a signed decision is read as it was signed", () => {
    const reading = read(
      signDecision(signer, { ...claims, jti: "d-1", drop: ["pay_1"], comment: "fine" }),
    );
    expect(reading).toMatchObject({
      ok: true,
      signed: {
        key: { keyId: "erp-2026", name: "erp", roles: ["controller"] },
        id: "d-1",
        decision: "approve",
        planHash: claims.planHash,
        drop: ["pay_1"],
        comment: "fine",
      },
    });
  });

  test("a signed decision with one changed character proves nothing", () => {
    const envelope = signDecision(signer, { ...claims, jti: "d-1" });
    for (let at = 0; at < envelope.length; at += 1) {
      const changed = envelope[at] === "A" ? "B" : "A";
      const forged = envelope.slice(0, at) + changed + envelope.slice(at + 1);
      expect(codeOf(forged), `character ${at}`).not.toBe("ok");
    }
  });

  test.each([
    ["unknown_key", signDecision(other, claims)],
    ["bad_signature", signDecision({ ...other, keyId: signer.keyId }, { ...claims, iss: "erp" })],
    ["wrong_principal", signDecision(signer, { ...claims, iss: "owner" })],
    ["foreign", signDecision(signer, { ...claims, sub: "pay-run/acme/weekly/2026-11-27" })],
    ["foreign", signDecision(signer, { ...claims, aud: "another-program" })],
    ["expired", signDecision(signer, { ...claims, iat: NOW_S - 900, exp: NOW_S - 1 })],
    ["not_yet_valid", signDecision(signer, { ...claims, iat: NOW_S + 900, exp: NOW_S + 1_000 })],
    ["lives_too_long", signDecision(signer, { ...claims, exp: NOW_S + 90_000 })],
    ["malformed", signDecision(signer, { ...claims, exp: undefined })],
    ["malformed", signDecision(signer, { ...claims, exp: "tomorrow" })],
    ["malformed", signDecision(signer, { ...claims, jti: undefined })],
    ["malformed", signDecision(signer, { ...claims, jti: "two words" })],
    ["malformed", signDecision(signer, { ...claims, decision: "pay" })],
    ["malformed", signDecision(signer, { ...claims, planHash: 7 })],
    ["malformed", signDecision(signer, { ...claims, drop: "pay_1" })],
    ["malformed", signDecision(signer, { ...claims, nbf: NOW_S + 900 })],
    ["malformed", signDecision(signer, { ...claims, amountCents: 100 })],
    ["malformed", signDecision(signer, { ...claims, verifiedBankChanges: [{ ...CALL, by: "x" }] })],
    ["malformed", signDecision(signer, { ...claims, drop: ["pay_1"], confirmedRecords: WORD })],
    ["malformed", signDecision(signer, claims, { alg: "none" })],
    ["malformed", signDecision(signer, claims, { crit: ["b64"], b64: false })],
    ["malformed", signDecision(signer, claims, { kid: undefined })],
    ["malformed", ""],
    ["malformed", "approve"],
    ["malformed", "a.b.c"],
    ["malformed", "x".repeat(700_000)],
  ])("a wrong decision is refused as %s", (code, envelope) => {
    expect(codeOf(envelope)).toBe(code);
  });

  test.each([
    [
      "a claim",
      '"decision" twice',
      '"decision":"approve"',
      '"decision":"approve","decision":"reject"',
    ],
    [
      "an escaped claim",
      '"decision" twice',
      '"decision":"approve"',
      '"decision":"approve","decisio\\u006e":"reject"',
    ],
    ["a member of an answer", '"phone" twice', '"person":', '"phone":"+1 917 555 0199","person":'],
    ["a member of the header", "its header has a name twice", '"alg":', '"kid":"crm-2026","alg":'],
  ])("a decision that has %s twice is refused, and says which", (_what, reason, once, twice) => {
    const signed = { ...claims, verifiedBankChanges: [CALL] };
    expect(codeOf(signDecision(signer, signed))).toBe("ok");
    const double = (json: string): string => json.replace(once, twice);
    expect(read(signDecision(signer, signed, {}, double))).toMatchObject({
      code: "malformed",
      reason: expect.stringContaining(reason) as string,
    });
  });

  test("texts that look like members, and the same name in several objects, are not doubled", () => {
    const comment = '{"decision":"approve","decision":"reject"} \\';
    const calls = [CALL, { ...CALL, contactId: "c_2" }];
    const drop = Array.from({ length: 10_000 }, (_, index) => `pay_${index}`);
    const signed = { ...claims, comment, drop, verifiedBankChanges: calls };
    expect(codeOf(signDecision(signer, signed))).toBe("ok");
  });

  test("a decision can't be signed with the public key as a shared secret", () => {
    const [, payload = ""] = signDecision(signer, claims).split(".");
    for (const alg of ["HS256", "EdDSA"]) {
      const head = Buffer.from(JSON.stringify({ alg, kid: signer.keyId })).toString("base64url");
      const mac = createHmac("sha256", Buffer.from(signer.publicKey, "base64"));
      const forged = mac.update(`${head}.${payload}`).digest("base64url");
      expect(codeOf(`${head}.${payload}.${forged}`)).not.toBe("ok");
    }
  });
});
