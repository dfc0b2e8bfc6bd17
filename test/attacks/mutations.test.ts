import { createHmac, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { verifyWebhook } from "../../src/payments-api/index.ts";
import { findToken } from "../../src/store/approvals/tokens.ts";
import { sharedGatewayTest } from "../gateway/support/gateway-test.ts";

const SECRET = "whsec_of_the_business";
const NOW_MS = Date.parse("2026-11-21T10:00:00Z");
const TIMES = 10_000;

const test = sharedGatewayTest();

/** Changes, removes, inserts or doubles something in a text; never returns the text itself. */
function mutated(text: string, at: number): string {
  const place = at % text.length;
  const other = String.fromCharCode(33 + (at % 94));
  const [head, tail] = [text.slice(0, place), text.slice(place)];
  const texts = [
    head + other + tail.slice(1),
    head + tail.slice(1),
    head + other + tail,
    head + text,
  ];
  const changed = texts[at % 4] ?? "";
  return changed === text ? `${text}${other}` : changed;
}

test("of 10,000 webhooks with a changed body, signature, time or secret none is accepted", () => {
  const body = '{"id":"evt_1","type":"payable.paid","data":{"object":"payable","id":"pay_1"}}';
  const t = NOW_MS / 1000;
  const sign = (text: string, secret = SECRET): string =>
    createHmac("sha256", secret).update(`${t}.`).update(text).digest("hex");
  const accepts = (text: string, v1: string, time: number | string = t): boolean =>
    verifyWebhook({
      rawBody: Buffer.from(text),
      signatureHeader: `t=${time},v1=${v1}`,
      secrets: [SECRET],
      nowMs: NOW_MS,
    }).ok;
  const v1 = sign(body);
  expect(accepts(body, v1)).toBe(true);
  let accepted = 0;
  for (let at = 0; at < TIMES; at += 1) {
    // Hexadecimal digits in the other case are the same signature.
    const broken = mutated(v1, at);
    const forged = [
      accepts(mutated(body, at), v1),
      broken.toLowerCase() !== v1 && accepts(body, broken),
      accepts(body, v1, t + 1 + (at % 200)),
      accepts(body, sign(body, mutated(SECRET, at))),
    ];
    if (forged[at % 4] === true) accepted += 1;
  }
  expect(accepted).toBe(0);
});

test("of 10,000 changed or guessed tokens none is accepted", async ({ gateway }) => {
  const token = await gateway.token("ada", ["admin"]);
  const { db } = gateway.store;
  expect(await findToken(db, token)).toBeDefined();
  let accepted = 0;
  for (let at = 0; at < TIMES; at += 1) {
    const forged =
      at % 2 === 0 ? mutated(token, at) : `payrun_${randomBytes(32).toString("base64url")}`;
    if ((await findToken(db, forged)) !== undefined) accepted += 1;
  }
  expect(accepted).toBe(0);
});
