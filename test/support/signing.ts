import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";

/** A system that signs decisions, with its key as the settings name it. */
export interface TestSigner {
  readonly keyId: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Base64 of the DER encoding. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
  /** The value for PAYMENTS_SIGNERS. */
  readonly setting: string;
}

export function makeSigner(
  name = "erp",
  roles: readonly string[] = ["controller"],
  keyId = `${name}-2026`,
): TestSigner {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const der = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const setting = `${keyId}:${name}:${roles.join("+")}:${der}`;
  return { keyId, name, roles, publicKey: der, privateKey, setting };
}

/**
 * Signs a decision as docs/approvals.md says; `claims`, `header` and `written`, which changes the
 * JSON of both, change what a test is about.
 */
export function signDecision(
  signer: TestSigner,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
  written: (json: string) => string = (json) => json,
): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string =>
    Buffer.from(written(JSON.stringify(value))).toString("base64url");
  const text = [
    part({ alg: "EdDSA", typ: "JWT", kid: signer.keyId, ...header }),
    part({
      iss: signer.name,
      aud: "payrun",
      jti: randomUUID(),
      iat: now,
      exp: now + 600,
      decision: "approve",
      ...claims,
    }),
  ].join(".");
  return `${text}.${sign(null, Buffer.from(text), signer.privateKey).toString("base64url")}`;
}
