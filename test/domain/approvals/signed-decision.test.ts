import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readSignedDecision } from "../../../src/domain/approvals/signed-decision.ts";
import { makeSigner, signDecision } from "../../support/signing.ts";

const RUN = "pay-run/acme/weekly/2026-11-20";
const signer = makeSigner();
const other = makeSigner("crm", ["owner"]);
const NOW_S = Math.floor(Date.now() / 1000);
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
    ["unknown-key", signDecision(other, claims)],
    ["bad-signature", signDecision({ ...other, keyId: signer.keyId }, { ...claims, iss: "erp" })],
    ["wrong-principal", signDecision(signer, { ...claims, iss: "owner" })],
    ["foreign", signDecision(signer, { ...claims, sub: "pay-run/acme/weekly/2026-11-27" })],
    ["foreign", signDecision(signer, { ...claims, aud: "another-program" })],
    ["expired", signDecision(signer, { ...claims, iat: NOW_S - 900, exp: NOW_S - 1 })],
    ["not-yet-valid", signDecision(signer, { ...claims, iat: NOW_S + 900, exp: NOW_S + 1_000 })],
    ["lives-too-long", signDecision(signer, { ...claims, exp: NOW_S + 90_000 })],
    ["malformed", signDecision(signer, { ...claims, exp: undefined })],
    ["malformed", signDecision(signer, { ...claims, exp: "tomorrow" })],
    ["malformed", signDecision(signer, { ...claims, jti: undefined })],
    ["malformed", signDecision(signer, { ...claims, jti: "two words" })],
    ["malformed", signDecision(signer, { ...claims, decision: "pay" })],
    ["malformed", signDecision(signer, { ...claims, planHash: 7 })],
    ["malformed", signDecision(signer, { ...claims, drop: "pay_1" })],
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
