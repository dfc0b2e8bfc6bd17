import { describe, expect, test } from "vitest";
import { ADA, BEN, DATA, PLANTED } from "../../support/onboarding.ts";
import { onboardings, refusedSaying } from "../kyb-scene.ts";

const begin = onboardings();

describe("a service that can't be read", () => {
  test("an unreadable service causes one notice, and the wait under way still ends in its time", async () => {
    const world = await begin();
    const { service } = world;
    await world.untilWaits();
    service.refuse("GET /tax/detailed", ...Array.from({ length: 9 }, () => ({ status: 403 })));
    const now = await world.look();
    expect(now).toMatchObject({ phase: "tax", needsAction: true });
    await world.look();
    expect((await world.told("onboarding")).filter((text) => text === now.waitingFor)).toHaveLength(
      1,
    );
    world.pass(4);
    await world.look();
    expect(await world.told("reminder")).toHaveLength(1);
    world.pass(7);
    expect(await world.look()).toMatchObject({ phase: "expired", ended: true });
  });

  test("a service that is unreadable from the start is waited for only until the onboarding expires", async () => {
    const world = await begin();
    const { service } = world;
    const notFound = Array.from({ length: 9 }, () => ({ status: 404 }));
    service.refuse("GET /tax/detailed", ...notFound);
    service.refuse("GET ", ...notFound);
    expect((await world.look()).waitingFor).toContain("business id");
    world.pass(11);
    expect((await world.look()).phase).toBe("expired");
  });
});

describe.each([
  ["names no steps", null],
  ["has words of its own", (isThere: boolean) => (isThere ? "in_review" : "NOT_STARTED")],
  ["says the same of every step", () => "pending"],
] as const)("a service that %s", (_what, word) => {
  test("each step is sent once, documents included, even if the onboarding is launched again", async () => {
    const world = await begin(word);
    const { service } = world;
    expect((await world.untilWaits()).phase).toBe("tax");
    await world.giveAll();
    expect((await world.untilWaits()).phase).toBe("review");
    service.status = "document";
    expect((await world.untilWaits()).phase).toBe("documents");
    world.pass(11);
    expect((await world.untilWaits()).phase).toBe("expired");
    await world.launch();
    expect((await world.untilWaits()).phase).toBe("documents");
    const value = { documentType: "einLetter", contentBase64: "JVBERg==", type: "application/pdf" };
    await world.give("documents", value);
    expect((await world.untilWaits()).phase).toBe("review");
    expect(service.writes).toEqual([
      "PATCH /tax",
      "PATCH /tax/signature",
      "POST /officers",
      "POST /officers",
      "POST /officers/certify-beneficial-ownership",
      "POST /tax/upload-verification-documents",
    ]);
    service.status = "verified";
    expect(await world.untilWaits()).toMatchObject({ phase: "verified", ended: true });
  });

  test("a changed officer needs a new certification, and another tax id a new signature", async () => {
    const world = await begin(word);
    const { service } = world;
    await world.giveAll();
    await world.untilWaits();
    await world.give("officers", { ...BEN, firstName: "Cleo", ssn: "567-89-1234" });
    expect((await world.untilWaits()).phase).toBe("certification");
    await world.certify();
    expect((await world.untilWaits()).phase).toBe("review");
    await world.give("tax", { ein: "12-3456789" }, { replace: true });
    expect((await world.untilWaits()).phase).toBe("signature");
    service.tinCheck = "TIN_NOT_MATCHED";
    const asked = await world.untilWaits();
    expect(asked).toMatchObject({ phase: "tax", needsAction: true });
    expect(asked.waitingFor).toContain("IRS could not match");
  });
});

describe.each([
  ["knows of no tax info and no officers before there are some", { missing: 404 }],
  ["answers nothing where there is none, and wraps what there is", { missing: 204, wraps: true }],
] as const)("a service that %s", (_what, choices) => {
  test("each step is sent once, and the service's review text is shown", async () => {
    const world = await begin(null, choices);
    const { service } = world;
    expect(await world.untilWaits()).toMatchObject({ phase: "tax", needsAction: true });
    await world.giveAll();
    const now = await world.untilWaits();
    expect(now).toMatchObject({ phase: "review", needsAction: false });
    const [said] = (await world.onboarding()).nextSteps.map(({ message }) => message);
    expect(now.waitingFor).toContain(`service says: “${said}`);
    expect(service.writes).toHaveLength(5);
    service.tinCheck = "TIN_MISMATCH";
    expect(await world.untilWaits()).toMatchObject({ phase: "tax", needsAction: true });
    service.tinCheck = "MATCHED";
    service.status = "document";
    expect((await world.untilWaits()).phase).toBe("documents");
    service.status = "suspended";
    expect((await world.untilWaits()).phase).toBe("suspended");
    service.status = "verified";
    expect(await world.untilWaits()).toMatchObject({ phase: "verified", ended: true });
  });

  test("a step that the service already has is not sent", async () => {
    const world = await begin(null, choices);
    world.service.taxId = "987654321";
    world.service.signer = DATA.signature.signerName;
    world.service.officers.push({ firstName: "Ada", lastName: "Okafor", ssnLast4: "9876" });
    await world.giveAll();
    await world.untilWaits();
    expect(world.service.writes).toEqual([
      "POST /officers",
      "POST /officers/certify-beneficial-ownership",
    ]);
    expect(world.service.officers.map(({ firstName }) => firstName)).toEqual(["Ada", "Ben"]);
  });
});

test("another tax id with the same last four digits is sent if a person asks to replace the first", async () => {
  const world = await begin();
  const { service } = world;
  service.taxId = "127654321";
  await world.give("tax", DATA.tax, { replace: true });
  await world.untilWaits();
  expect(service.taxId).toBe("987654321");
  expect(service.writes).toEqual(["PATCH /tax"]);
});

describe("micro-deposits", () => {
  const account = (id: string, initiated: string) => ({
    id,
    status: "pending_verification",
    accountNumberLast4: id.slice(-4),
    microDepositsInitiatedAt: initiated,
    microDepositsCompletedAt: "2026-01-10T00:00:00Z",
  });

  test("micro-deposits that the service never counts get a third try only if a person asks for it", async () => {
    const world = await begin();
    const { service } = world;
    await world.launch();
    await world.store.db
      .updateTable("onboardings")
      .set({
        policy: JSON.stringify({
          ...(await world.onboarding()).policy,
          bankAccount: "micro-deposits",
        }),
      })
      .execute();
    service.status = "verified";
    service.bankAccounts.push(account("ba_2222", "2026-01-08T00:00:00Z"));
    service.bankAccounts.push(account("ba_1111", "2026-01-02T00:00:00Z"));
    for (const _ of [1, 2, 3]) {
      expect((await world.untilWaits()).waitingFor).toContain("••2222");
      await world.give("micro-deposits", { amountsCents: [1, 2] });
      await world.untilWaits();
    }
    expect(service.attempts.map(({ accountId }) => accountId)).toEqual(["ba_2222", "ba_2222"]);
    expect((await world.untilWaits()).waitingFor).toContain("lastAttempt: true");
    await world.give("micro-deposits", { amountsCents: [3, 4] }, { lastAttempt: true });
    await world.untilWaits();
    expect(service.attempts).toHaveLength(3);
  });
});

test("reasons of refusals never repeat what was sent, however the service writes it", async () => {
  const world = await begin();
  const { service } = world;
  await world.give("tax", DATA.tax);
  await world.sign();
  await world.give("officers", ADA);
  const words = `${ADA.dateOfBirth.replaceAll("-", "/")}, ${PLANTED.ssn.replaceAll("-", " ")}, ${PLANTED.street.toUpperCase()}`;
  service.refuse("POST /officers", refusedSaying(words));
  await world.untilWaits();
  const reason = (await world.inputs()).at(-1)?.reason ?? "";
  expect(reason).toContain("•••");
  // People read what the service says, without the API's addresses.
  expect(reason).toMatch(/^The service refused it \(\w+\)\. The service says: /);
  expect(reason).not.toContain("/officers");
  for (const part of ["1979", "321", "HARBOR"]) expect(reason).not.toContain(part);
});
