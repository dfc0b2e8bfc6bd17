import { type TestContext, test } from "vitest";
import { target } from "./target.ts";

/** The body of a test; it may skip itself if the service has nothing to look at. */
type Body = (context: Pick<TestContext, "skip">) => Promise<void>;

/** A sentence that reads and refused requests can prove; it is checked on every service. */
export function reads(sentence: string, body: Body): void {
  check(sentence, undefined, body);
}

/** A sentence whose proof needs a contact, a draft or a webhook endpoint. */
export function writes(sentence: string, body: Body): void {
  check(sentence, target?.mayWrite === false ? "it would create records" : undefined, body);
}

/** A sentence whose proof needs a payment of one cent, scheduled and cancelled again. */
export function pays(sentence: string, body: Body): void {
  const why = target?.mayPay === false ? "it schedules a payment: --with-payments" : undefined;
  check(sentence, why, body);
}

/**
 * A sentence whose proof needs the sandbox's clocks, faults, hand-made records or a whole payment.
 */
export function onSandbox(sentence: string, body: Body): void {
  check(sentence, target === undefined ? undefined : "it needs a sandbox's control API", body);
}

function check(sentence: string, whyNot: string | undefined, body: Body): void {
  test(`${sentence}`, async (context) => {
    if (whyNot !== undefined) context.skip(whyNot);
    await body(context);
  });
}
