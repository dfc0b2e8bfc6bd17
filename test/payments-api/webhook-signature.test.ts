import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../src/payments-api/index.ts";

const secret = "whsec_c2VjcmV0";
const nowMs = Date.parse("2026-11-21T10:00:00Z");
const nowSeconds = nowMs / 1000;
// Not valid UTF-8: a verification that decodes the body first would fail.
const rawBody = Buffer.concat([Buffer.from('{"id":"evt_1","x":"'), Buffer.from([0xff, 0xfe])]);

function v1(timestamp: number | string, key = secret, body: Uint8Array = rawBody): string {
  return createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
}

function check(signatureHeader: string | undefined, overrides = {}) {
  return verifyWebhook({ rawBody, signatureHeader, secrets: [secret], nowMs, ...overrides });
}

test("a signature over the raw bytes, keyed with the whole secret, is accepted", () => {
  expect(check(`t=${nowSeconds},v1=${v1(nowSeconds)}`)).toEqual({ ok: true });
  expect(check(` t=${nowSeconds} , v1=${v1(nowSeconds).toUpperCase()} `)).toEqual({ ok: true });
});

test("a webhook is accepted if any of its signatures matches any of the secrets", () => {
  const header = `t=${nowSeconds},v0=old,v1=${"0".repeat(64)},v1=${v1(nowSeconds)}`;
  expect(check(header, { secrets: ["whsec_new", secret] })).toEqual({ ok: true });
});

test.each([
  [-300, true],
  [300, true],
  [-301, "too_old"],
  [301, "too_new"],
])("a timestamp that is %j seconds off gives %j", (offset, expected) => {
  const timestamp = nowSeconds + offset;
  const result = check(`t=${timestamp},v1=${v1(timestamp)}`);
  expect(result).toEqual(expected === true ? { ok: true } : { ok: false, reason: expected });
});

test.each([
  ["another body", `t=${nowSeconds},v1=${v1(nowSeconds, secret, Buffer.from("{}"))}`, "no_match"],
  ["another secret", `t=${nowSeconds},v1=${v1(nowSeconds, "whsec_other")}`, "no_match"],
  ["the secret without its prefix", `t=${nowSeconds},v1=${v1(nowSeconds, "c2VjcmV0")}`, "no_match"],
  ["another timestamp", `t=${nowSeconds + 1},v1=${v1(nowSeconds)}`, "no_match"],
  ["no header", undefined, "missing_header"],
  ["no timestamp", `v1=${v1(nowSeconds)}`, "malformed_header"],
  ["two timestamps", `t=1,t=${nowSeconds},v1=${v1(nowSeconds)}`, "malformed_header"],
  ["no signature", `t=${nowSeconds}`, "malformed_header"],
  ["a short signature", `t=${nowSeconds},v1=abcd`, "malformed_header"],
  ["a timestamp that is no number", `t=now,v1=${v1("now")}`, "malformed_header"],
  ["nonsense", "nonsense", "malformed_header"],
])("a webhook with %s is refused", (_title, header, reason) => {
  expect(check(header)).toEqual({ ok: false, reason });
});

test("without a secret no webhook is accepted, not even one signed with an empty secret", () => {
  const header = `t=${nowSeconds},v1=${v1(nowSeconds, "")}`;
  expect(check(header, { secrets: [] })).toEqual({ ok: false, reason: "no_secret" });
  expect(check(header, { secrets: [""] })).toEqual({ ok: false, reason: "no_secret" });
});

/** The signed event of the tests of Stripe's own libraries; the scheme is the same. */
const knownEvent = `${JSON.stringify(
  {
    id: "evt_123",
    object: "event",
    account: "acct_123",
    api_version: "2017-05-25",
    created: 1533204620,
    data: {
      object: {
        id: "ii_123",
        object: "invoiceitem",
        amount: 1000,
        currency: "usd",
        customer: "cus_123",
        date: 1533204620,
        description: "Test Invoice Item",
        discountable: false,
        invoice: "in_123",
        livemode: false,
        metadata: {},
        period: { start: 1533204620, end: 1533204620 },
        plan: null,
        proration: false,
        quantity: null,
        subscription: null,
      },
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: "req_123", idempotency_key: "idempotency-key-123" },
    type: "invoiceitem.created",
  },
  null,
  2,
)}\n`;

test.each([
  [0, { ok: true }],
  [300, { ok: true }],
  [301, { ok: false, reason: "too_old" }],
])("the test event of Stripe's libraries is judged %d seconds later: %j", (seconds, expected) => {
  const signature = "f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613";
  const older = "63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef";
  const result = verifyWebhook({
    rawBody: Buffer.from(knownEvent),
    signatureHeader: `t=1533204620,v1=${signature},v0=${older}`,
    secrets: ["webhook_secret"],
    nowMs: (1533204620 + seconds) * 1000,
  });
  expect(result).toEqual(expected);
});
