import { fileURLToPath } from "node:url";
import {
  type DataConverter,
  type Payload,
  type PayloadCodec,
  PayloadConverterError,
  ValueError,
} from "@temporalio/common";
import proto from "@temporalio/proto";
import { Keyring, VaultError } from "../vault/keyring.ts";

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCODING = "encoding";
const KEY_ID = "encryption-key-id";
const NONCE = "encryption-nonce";
const ENCRYPTED = "binary/encrypted";

/**
 * Temporal moves payloads between histories, so nothing about their place is authenticated with
 * them.
 */
const LABEL = "payrun-temporal-1";

const FAILURE_CONVERTER_PATH = fileURLToPath(new URL("failure-converter.ts", import.meta.url));

/**
 * Encrypts what Temporal keeps of workflows with AES-256-GCM under the newest key, and decrypts
 * under any. Plain payloads pass through, so that what was written before can still be read.
 */
class EncryptionCodec implements PayloadCodec {
  readonly #keyring: Keyring;
  readonly #encrypts: () => boolean;

  /**
   * @param encrypts called for each payload; if false, only what others have encrypted is decrypted
   */
  constructor(keyring: Keyring, encrypts: () => boolean) {
    this.#keyring = keyring;
    this.#encrypts = encrypts;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return this.#encrypts() ? payloads.map((payload) => this.#seal(payload)) : payloads;
  }

  /**
   * @throws {VaultError} if a payload was encrypted under a key that this process lacks, or was
   * changed
   */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.#open(payload) : payload));
  }

  #seal(payload: Payload): Payload {
    const plain = PayloadMessage.encode(payload).finish();
    const { keyId, nonce, ciphertext } = this.#keyring.seal(plain, LABEL);
    return {
      metadata: {
        [ENCODING]: Buffer.from(ENCRYPTED),
        [KEY_ID]: Buffer.from(keyId),
        [NONCE]: Buffer.from(nonce),
      },
      data: Buffer.from(ciphertext, "base64"),
    };
  }

  #open({ metadata, data }: Payload): Payload {
    const sealed = {
      keyId: textOf(metadata?.[KEY_ID]),
      nonce: textOf(metadata?.[NONCE]),
      ciphertext: Buffer.from(data ?? []).toString("base64"),
    };
    return PayloadMessage.decode(this.#keyring.open(sealed, LABEL));
  }
}

/** A process's settings for encryption. */
export interface EncryptionSettings {
  readonly encryptionKeys: ConstructorParameters<typeof Keyring>[0];
  readonly encryptsHistories: () => boolean;
}

/**
 * Returns a codec that encrypts as the settings say, and decrypts everything that it has keys for.
 */
export function codecOf({ encryptionKeys, encryptsHistories }: EncryptionSettings): PayloadCodec {
  return new EncryptionCodec(new Keyring(encryptionKeys), encryptsHistories);
}

/**
 * Returns how a process reads and writes what Temporal keeps. Failures are encrypted if payloads
 * are when the process starts; payloads as soon as the settings say so.
 */
export function dataConverterOf(settings: EncryptionSettings): DataConverter {
  return { payloadCodecs: [codecOf(settings)], ...failureConverterOf(settings) };
}

/** Returns the part of `dataConverterOf` that workflow code is bundled with. */
export function failureConverterOf({
  encryptsHistories,
}: Pick<EncryptionSettings, "encryptsHistories">): Pick<DataConverter, "failureConverterPath"> {
  return encryptsHistories() ? { failureConverterPath: FAILURE_CONVERTER_PATH } : {};
}

/**
 * True if a payload was under a key that this process lacks, or was changed, or is nothing that
 * Payrun writes.
 */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.some((kind) => error instanceof kind);
}

/** Errors of the codec, the converters, and the parser of JSON. */
const UNREADABLE = [VaultError, ValueError, PayloadConverterError, SyntaxError];

/** Returns the id of the key that a payload is encrypted under; undefined if it is plain. */
export function keyIdOf(payload: Payload): string | undefined {
  return isEncrypted(payload) ? textOf(payload.metadata?.[KEY_ID]) : undefined;
}

function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.[ENCODING]) === ENCRYPTED;
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("utf8");
}
