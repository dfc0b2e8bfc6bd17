import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { signersShape, signersText } from "../../src/config/signers.ts";

const { publicKey } = generateKeyPairSync("ed25519");
const DER = publicKey.export({ type: "spki", format: "der" });
const PEM = publicKey.export({ type: "spki", format: "pem" });
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;

function shape(key: string): ReturnType<typeof signersShape.safeParse> {
  return signersShape.safeParse({ "erp-1": { name: "erp", roles: ["owner"], publicKey: key } });
}

describe("the keys of systems that decide", () => {
  test.each([
    ["PEM", String(PEM)],
    ["the base64 of the DER", DER.toString("base64")],
    ["the base64 of 32 bytes", DER.subarray(-32).toString("base64")],
    ["their base64url", DER.subarray(-32).toString("base64url")],
  ])("a signer's key is read as %s", (_how, key) => {
    expect(shape(key).data).toEqual([
      { keyId: "erp-1", name: "erp", roles: ["owner"], publicKey: DER.toString("base64") },
    ]);
  });

  test.each([
    ["RSA", String(RSA.export({ type: "spki", format: "pem" }))],
    ["no key", "hello"],
    ["nothing", ""],
  ])("a signer's key is refused if it is %s", (_what, key) => {
    expect(shape(key).error?.issues[0]?.message).toContain("must be an Ed25519 public key");
  });

  test("several signers can be given in one variable", () => {
    const key = DER.toString("base64");
    const text = `erp-1:erp:owner+controller:${key}, crm:crm:owner:${key}`;
    expect(signersText.parse(text)).toEqual([
      { keyId: "erp-1", name: "erp", roles: ["owner", "controller"], publicKey: key },
      { keyId: "crm", name: "crm", roles: ["owner"], publicKey: key },
    ]);
  });

  test.each([
    ["erp-1:erp:owner", "(signer 1)"],
    ["erp-1:erp::KEY", "(signer 1)"],
    [`a:a:owner:${DER.toString("base64")},a:b:owner:${DER.toString("base64")}`, "twice"],
  ])("the problem with the signers %s is reported", (text, message) => {
    expect(signersText.safeParse(text).error?.issues[0]?.message).toContain(message);
  });
});
