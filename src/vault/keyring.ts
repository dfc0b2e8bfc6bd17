import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** The stored form of an encrypted value. */
export interface Sealed {
  readonly keyId: string;
  /** Base64, 12 bytes, new for each value. */
  readonly nonce: string;
  /** Base64, the 16 bytes of the authentication tag at its end. */
  readonly ciphertext: string;
}

/** A value can't be encrypted or decrypted. The message never contains anything of the value. */
export class VaultError extends Error {
  override readonly name = "VaultError";
  readonly code: "no_keys" | "unknown_key" | "not_authentic" | "missing";

  constructor(code: VaultError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM under the newest key and decrypts under any of them.
 *
 * The label is authenticated with the value: a value that was sealed for one row can't be passed
 * off as another's.
 */
export class Keyring {
  readonly #keys: readonly { readonly id: string; readonly key: Buffer }[];

  /** @param keys 32 bytes each, the newest first; without any nothing can be sealed or opened */
  constructor(keys: readonly { readonly id: string; readonly key: Buffer }[]) {
    this.#keys = keys;
  }

  /** Id of the key that encrypts; undefined if there is none. */
  get current(): string | undefined {
    return this.#keys[0]?.id;
  }

  /** @throws {VaultError} `no_keys` */
  seal(plain: Uint8Array, label: string): Sealed {
    const newest = this.#keys[0];
    if (newest === undefined) {
      throw new VaultError(
        "no_keys",
        "No encryption key is set, so nothing personal can be kept: set PAYRUN_ENCRYPTION_KEYS to the same keys for gateway and worker (“payrun up” makes a file of one).",
      );
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, newest.key, nonce);
    cipher.setAAD(Buffer.from(label));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return {
      keyId: newest.id,
      nonce: nonce.toString("base64"),
      ciphertext: sealed.toString("base64"),
    };
  }

  /**
   * @throws {VaultError} `unknown_key`, or `not_authentic` if value, label or key is a different
   * one
   */
  open(sealed: Sealed, label: string): Buffer {
    const known = this.#keys.find(({ id }) => id === sealed.keyId);
    if (known === undefined) {
      throw new VaultError(
        "unknown_key",
        `A value is encrypted under the key “${sealed.keyId}”, which this process doesn't have: add it to PAYRUN_ENCRYPTION_KEYS.`,
      );
    }
    const bytes = Buffer.from(sealed.ciphertext, "base64");
    const split = bytes.length - TAG_BYTES;
    try {
      const nonce = Buffer.from(sealed.nonce, "base64");
      const decipher = createDecipheriv(ALGORITHM, known.key, nonce, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(label));
      decipher.setAuthTag(bytes.subarray(split));
      return Buffer.concat([decipher.update(bytes.subarray(0, split)), decipher.final()]);
    } catch {
      throw new VaultError(
        "not_authentic",
        `A value can't be opened with the key “${sealed.keyId}”: the key is another one of that name, or the value was changed.`,
      );
    }
  }
}
