import { randomBytes } from "node:crypto";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { loadDataConverter } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { expect, test } from "vitest";
import { codecOf, dataConverterOf } from "../../src/temporal/codec.ts";

const FIRST = { id: "2026-01", key: randomBytes(32) };
const SECOND = { id: "2026-07", key: randomBytes(32) };
const on = () => true;
const off = () => false;

const SECRET = { vendor: "Blue Bottle", amountCents: 123_456 };

const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown =>
  defaultPayloadConverter.fromPayload(payload ?? {});
const bytesOf = (payload: Payload | undefined): string =>
  Buffer.concat([
    ...Object.values(payload?.metadata ?? {}).map((value) => Buffer.from(value)),
    Buffer.from(payload?.data ?? []),
  ]).toString("latin1");

test("an encrypted payload hides its value, is different each time, and is read back whole", async () => {
  const codec = codecOf({ encryptionKeys: [FIRST], encryptsHistories: on });
  const [one, other, nothing] = await codec.encode([
    plain(SECRET),
    plain(SECRET),
    plain(undefined),
  ]);
  for (const text of ["Blue Bottle", "123456", "vendor", "json/plain"]) {
    expect(bytesOf(one)).not.toContain(text);
  }
  expect(bytesOf(one)).toContain("2026-01");
  expect(bytesOf(one)).not.toBe(bytesOf(other));
  const decoded = await codec.decode([one, nothing].filter((each) => each !== undefined));
  expect(decoded.map(valueOf)).toEqual([SECRET, undefined]);
});

test("the first key encrypts, an older one still decrypts, and plain payloads pass unchanged", async () => {
  const before = codecOf({ encryptionKeys: [FIRST], encryptsHistories: on });
  const after = codecOf({ encryptionKeys: [SECOND, FIRST], encryptsHistories: on });
  const [old = {}] = await before.encode([plain(SECRET)]);
  const [fresh = {}] = await after.encode([plain(SECRET)]);
  expect(bytesOf(fresh)).toContain("2026-07");
  expect((await after.decode([old, fresh, plain(SECRET)])).map(valueOf)).toEqual([
    SECRET,
    SECRET,
    SECRET,
  ]);
  await expect(before.decode([fresh])).rejects.toThrow(
    "encrypted under the key “2026-07”, which this process doesn't have",
  );
});

test("nothing is encrypted while every business is a sandbox, and everything once one is not", async () => {
  let isReal = false;
  const codec = codecOf({ encryptionKeys: [FIRST], encryptsHistories: () => isReal });
  expect(bytesOf((await codec.encode([plain(SECRET)]))[0])).toContain("Blue Bottle");
  isReal = true;
  expect(bytesOf((await codec.encode([plain(SECRET)]))[0])).not.toContain("Blue Bottle");
});

test("a payload that was changed, or is labeled with a different key, is refused", async () => {
  const codec = codecOf({ encryptionKeys: [FIRST, SECOND], encryptsHistories: on });
  const [sealed = {}] = await codec.encode([plain(SECRET)]);
  const data = Buffer.from(sealed.data ?? []);
  data[data.length - 20] = (data[data.length - 20] ?? 0) ^ 1;
  await expect(codec.decode([{ ...sealed, data }])).rejects.toThrow("can't be opened");
  const metadata = { ...sealed.metadata, "encryption-key-id": Buffer.from(SECOND.id) };
  await expect(codec.decode([{ ...sealed, metadata }])).rejects.toThrow("can't be opened");
});

test("a failure is unreadable if histories are encrypted, and readable otherwise", () => {
  const failureOf = (encryptsHistories: () => boolean) => {
    const loaded = loadDataConverter(
      dataConverterOf({ encryptionKeys: [FIRST], encryptsHistories }),
    );
    const error = new Error("Blue Bottle can't be paid");
    return loaded.failureConverter.errorToFailure(error, loaded.payloadConverter);
  };
  const { encodedAttributes, ...kept } = failureOf(on);
  expect(JSON.stringify(kept)).not.toContain("Blue Bottle");
  expect(bytesOf(encodedAttributes ?? undefined)).toContain("Blue Bottle");
  expect(failureOf(off).message).toBe("Blue Bottle can't be paid");
});
