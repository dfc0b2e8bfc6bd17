import { describe, expect, test } from "vitest";
import {
  type AccountView,
  decideBankAccount,
  isLastAttempt,
  pendingAccount,
} from "../../../src/domain/onboarding/bank-account.ts";
import {
  decideOnboarding,
  type ProvidedView,
  type VerificationView,
} from "../../../src/domain/onboarding/decide.ts";

function view(
  steps: Partial<VerificationView["steps"]> = {},
  more: Partial<VerificationView> = {},
): VerificationView {
  return {
    status: "pending",
    steps: {
      tax: "submitted",
      signature: "submitted",
      officers: "submitted",
      certification: "submitted",
      documents: "missing",
      ...steps,
    },
    taxIdMismatched: false,
    reason: null,
    nextSteps: [],
    ...more,
  };
}

const given = (step: ProvidedView["step"], state = "waiting"): ProvidedView => ({
  inputId: `inp_${step}`,
  step,
  state,
});

describe("an onboarding", () => {
  test("an onboarding waits for the first missing step", () => {
    const nothing = view({
      tax: "missing",
      signature: "missing",
      officers: "missing",
      certification: "missing",
    });
    expect(decideOnboarding("acme", nothing, [])).toMatchObject({
      do: "wait",
      phase: "tax",
      needsPerson: true,
      text: expect.stringContaining("payrun provide acme tax --file FILE"),
    });
  });

  test("an onboarding sends no step before the earlier ones, however early it was provided", () => {
    const missing = view({ tax: "missing", signature: "missing" });
    const early = [given("signature"), given("officers")];
    expect(decideOnboarding("acme", missing, early)).toMatchObject({ do: "wait", phase: "tax" });
    expect(decideOnboarding("acme", missing, [...early, given("tax")])).toMatchObject({
      do: "send",
      phase: "tax",
    });
  });

  test("an onboarding sends another officer even if the service has some", () => {
    expect(decideOnboarding("acme", view(), [given("officers")])).toMatchObject({
      do: "send",
      phase: "officers",
    });
  });

  test("an onboarding sends documents only once the review requests them", () => {
    expect(decideOnboarding("acme", view(), [given("documents")])).toMatchObject({
      phase: "review",
      needsPerson: false,
    });
    const asked = view({}, { status: "document" });
    expect(decideOnboarding("acme", asked, [given("documents")])).toMatchObject({ do: "send" });
  });

  test("an onboarding requests documents again if the review wants more", () => {
    const asked = view({}, { status: "document" });
    const first = decideOnboarding("acme", asked, []);
    const second = decideOnboarding("acme", asked, [given("documents", "done")]);
    expect(first).toMatchObject({ do: "wait", phase: "documents" });
    expect(first).not.toMatchObject({ key: "key" in second ? second.key : "" });
  });

  test("an onboarding requests the tax id again if the IRS could not match it", () => {
    const mismatched = view({ tax: "missing" }, { taxIdMismatched: true });
    expect(decideOnboarding("acme", mismatched, [given("tax", "done")])).toMatchObject({
      phase: "tax",
      text: expect.stringContaining("could not match"),
      key: "tax:mismatched:1",
    });
  });

  test("an onboarding requests a signature or certification again if the data behind it was refused", () => {
    const unsigned = view({ signature: "missing" });
    const refused = [given("tax", "refused"), given("signature", "replaced")];
    expect(decideOnboarding("acme", unsigned, refused)).toMatchObject({
      phase: "signature",
      text: expect.stringContaining("A tax id was refused"),
    });
    const uncertified = view({ certification: "missing" });
    const officers = [given("officers", "done"), given("officers", "refused")];
    expect(decideOnboarding("acme", uncertified, officers)).toMatchObject({
      phase: "certification",
      text: expect.stringContaining("An officer was refused"),
    });
    const mended = [...officers, given("officers", "done")];
    expect(decideOnboarding("acme", uncertified, mended)).toMatchObject({
      text: expect.stringMatching(/^A person who certifies/),
    });
  });

  test("a suspended onboarding says what to do, and still sends corrections", () => {
    const todo = [{ step: "support", message: "Call 555-0100." }];
    const suspended = view({}, { status: "suspended", nextSteps: todo });
    expect(decideOnboarding("acme", suspended, [])).toMatchObject({
      phase: "suspended",
      needsPerson: true,
      text: "The business is suspended. The service says: “Call 555-0100.”",
    });
    expect(decideOnboarding("acme", suspended, [given("officers")])).toMatchObject({
      do: "send",
      phase: "suspended",
    });
  });

  test("an unknown verification status counts as under review", () => {
    expect(decideOnboarding("acme", view({}, { status: "in_review_2" }), [])).toMatchObject({
      phase: "review",
    });
    expect(decideOnboarding("acme", view({}, { status: "verified" }), [])).toEqual({
      do: "verified",
    });
  });
});

describe("the bank account of a verified business", () => {
  const pending: AccountView = {
    id: "ba_1",
    status: "pending_verification",
    last4: "6789",
    hasArrived: true,
    initiatedAtMs: 1_000,
    counted: 0,
    attempts: 0,
  };

  test("a business with a verified bank account needs no other account", () => {
    const verified = { ...pending, status: "verified" };
    expect(decideBankAccount("acme", [verified], [])).toEqual({ do: "finished" });
  });

  test("an onboarding requests a bank account, waits for its deposits, then requests their amounts", () => {
    expect(decideBankAccount("acme", [], [])).toMatchObject({ needsPerson: true });
    const onItsWay = { ...pending, hasArrived: false };
    expect(decideBankAccount("acme", [onItsWay], [])).toMatchObject({ needsPerson: false });
    expect(decideBankAccount("acme", [pending], [])).toMatchObject({
      needsPerson: true,
      text: expect.stringContaining("payrun provide acme micro-deposits"),
    });
    expect(decideBankAccount("acme", [pending], [given("micro-deposits")])).toMatchObject({
      do: "send",
    });
  });

  test("the bank account that was linked last is confirmed, in whatever order the service lists them", () => {
    const older = { ...pending, id: "ba_0", last4: "0000", initiatedAtMs: 500 };
    for (const accounts of [
      [older, pending],
      [pending, older],
    ]) {
      expect(pendingAccount(accounts)?.id).toBe("ba_1");
      expect(decideBankAccount("acme", accounts, [])).toMatchObject({
        text: expect.stringContaining("••6789"),
      });
    }
  });

  test("a bank account's last attempt needs a person's explicit confirmation", () => {
    expect([0, 1, 2, 3].map((attempts) => isLastAttempt({ attempts }))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(decideBankAccount("acme", [{ ...pending, attempts: 2 }], [])).toMatchObject({
      text: expect.stringContaining("lastAttempt: true"),
    });
  });
});
