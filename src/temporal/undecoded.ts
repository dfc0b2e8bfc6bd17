import type { Client } from "@temporalio/client";
import { DefaultFailureConverter, type LoadedDataConverter } from "@temporalio/common";

/** Reads no payload: each counts as missing. */
const BLIND: LoadedDataConverter = {
  payloadConverter: {
    toPayload: () => {
      throw new Error("this client only reads");
    },
    fromPayload: <T>() => undefined as T,
  },
  failureConverter: new DefaultFailureConverter(),
  payloadCodecs: [],
};

/**
 * Returns a part of a client for reading what runs, without memos and other payloads: anybody who
 * may write to Temporal can put there what can't be decoded, and one such record must not hide all
 * others.
 */
export function undecoded<Part extends Client["workflow"] | Client["schedule"]>(part: Part): Part {
  return Object.create(part, { dataConverter: { value: BLIND } }) as Part;
}
