import { personNameProblem } from "../contracts/principal.ts";
import { createPublicKey, type KeyObject } from "node:crypto";

import { z } from "zod";

/** A key with which another system decides, from a business's settings. */
export interface Signer {
  readonly keyId: string;
  /** The name that decides with the key; counts as one person with a token of the same name. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Ed25519, base64 of the DER of its SubjectPublicKeyInfo. */
  readonly publicKey: string;
}

const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ROLE = /^[a-z][a-z0-9-]{0,63}$/;

const KEY_MESSAGE =
  "must be an Ed25519 public key: PEM, or the base64 of its DER or of its 32 bytes";

/** The name of a person or system that decides, from a business's settings. */
export const personName = z
  .string("must be text: who decides")
  .trim()
  .min(1, "must not be empty")
  .max(200, "must be at most 200 characters")
  .superRefine((name, context) => {
    const problem = personNameProblem(name);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

export const personRoles = z
  .array(
    z.string("must be text").regex(ROLE, "must be a role such as controller"),
    "must be a list of roles, such as [controller]",
  )
  .min(1, "must name at least one role");

const publicKey = z.string(KEY_MESSAGE).transform((text, context) => {
  const der = derOf(text.trim());
  if (der !== undefined) return der;
  context.addIssue({ code: "custom", message: KEY_MESSAGE });
  return z.NEVER;
});

const signer = z.strictObject({ name: personName, roles: personRoles, publicKey });

/** `signers: { KEY_ID: { name, roles, publicKey } }` of a business. */
export const signersShape = z
  .record(z.string().regex(KEY_ID, "must be letters, digits, dots, dashes and underscores"), signer)
  .transform((keys): readonly Signer[] =>
    Object.entries(keys).map(([keyId, each]) => ({ keyId, ...each })),
  );

export const SIGNER_KEYS = Object.keys(signer.shape);

const SIGNERS_MESSAGE =
  "must be KEY_ID:NAME:ROLE+ROLE:PUBLIC_KEY, several separated by commas, the public key in base64";

/** The same in one line, for the business that the environment describes. */
export const signersText = z.string().transform((text, context): readonly Signer[] => {
  const signers: Signer[] = [];
  for (const part of text.split(",").map((each) => each.trim())) {
    if (part === "") continue;
    const [keyId = "", ofName = "", ofRoles = "", key = "", ...rest] = part.split(":");
    const parsed = signer.safeParse({ name: ofName, roles: ofRoles.split("+"), publicKey: key });
    const isTwice = signers.some((each) => each.keyId === keyId);
    if (!parsed.success || !KEY_ID.test(keyId) || rest.length > 0 || isTwice) {
      const which = `(signer ${signers.length + 1})`;
      const message = isTwice ? `names the key id ${keyId} twice` : `${which} ${SIGNERS_MESSAGE}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    signers.push({ keyId, ...parsed.data });
  }
  return signers;
});

/** The bytes that precede the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const DER_HEAD = Buffer.from("302a300506032b6570032100", "hex");

function derOf(text: string): string | undefined {
  const key = keyOf(text);
  return key?.asymmetricKeyType === "ed25519"
    ? key.export({ type: "spki", format: "der" }).toString("base64")
    : undefined;
}

function keyOf(text: string): KeyObject | undefined {
  try {
    if (text.startsWith("-----BEGIN PUBLIC KEY-----")) return createPublicKey(text);
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
    const bytes = Buffer.from(text, "base64");
    const der = bytes.length === 32 ? Buffer.concat([DER_HEAD, bytes]) : bytes;
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
