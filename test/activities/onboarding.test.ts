import { afterEach, describe, expect, test } from "vitest";
import type { OnboardingPhase } from "../../src/contracts/onboarding.ts";
import { listAudit } from "../../src/store/audit.ts";
import { endInputs } from "../../src/store/onboarding-inputs.ts";
import { endOnboarding } from "../../src/store/onboardings.ts";
import type { KybService } from "../support/kyb-service.ts";
import { ADA, BEN, DATA, PLANTED } from "../support/onboarding.ts";
import { KybWorld, OLD_KEY } from "./kyb-world.ts";

const PLAIN = (isThere: boolean): string => (isThere ? "submitted" : "missing");

let world: KybWorld;
afterEach(() => world.stop());

async function begun(word: ((isThere: boolean) => string) | null = PLAIN): Promise<KybWorld> {
  world = await KybWorld.start({ word });
  await world.launch();
  return world;
}

const refused = (said: string) => ({
  status: 422,
  body: { error: "validation_error", message: said },
});

describe("a legal act", () => {
  test("is not sent where a part of what it is about was refused after it was given", async () => {
    const { service } = await begun();
    await world.giveAll();
    service.refuse(
      "POST /officers",
      { status: 202, takes: true },
      refused(`No ${PLANTED.otherSsn}`),
    );
    const now = await world.untilWaits();
    expect(service.officers.map(({ lastName }) => lastName)).toEqual(["Okafor"]);
    expect(service.certifier).toBeNull();
    expect(await world.states()).toEqual([
      "tax done",
      "signature done",
      "officers done",
      "officers refused",
      "certification replaced",
    ]);
    expect(now).toMatchObject({ phase: "certification", needsAction: true });
    expect(now.waitingFor).toContain("An officer was refused");
    expect(JSON.stringify(await world.inputs())).not.toContain(PLANTED.otherSsn);
    await world.give("officers", BEN);
    await world.certify();
    expect((await world.untilWaits()).phase).toBe("review");
    expect(service.certifier).toBe(DATA.certification.certifierName);
    const trail = await listAudit(world.store.db, { businessId: service.businessId });
    expect(trail.map(({ action }) => action)).toContain("onboarding.voided");
  });

  test("is not sent for the tax id that the service has in the place of the refused one", async () => {
    const { service } = await begun();
    service.taxId = "123456789";
    await world.give("tax", DATA.tax);
    await world.sign();
    const now = await world.untilWaits();
    expect(service.signer).toBeNull();
    expect(now.phase).toBe("signature");
    expect(now.waitingFor).toContain("A tax id was refused");
    await world.give("tax", DATA.tax, { replace: true });
    await world.sign();
    await world.untilWaits();
    expect([service.taxId, service.signer]).toEqual(["987654321", DATA.signature.signerName]);
  });
});

test.each([
  [
    "replaced",
    async () => {
      const waiting = (await world.inputs()).filter(({ step }) => step === "signature");
      const end = { state: "replaced", reason: null } as const;
      await world.store.transaction((trx) => endInputs(trx, waiting, end));
    },
  ],
  [
    "ended with its onboarding",
    () =>
      world.store.transaction(async (trx) => {
        await endOnboarding(trx, world.service.businessId, Date.now());
      }),
  ],
])("what is %s while the service is looked at is not sent any more", async (_what, meanwhile) => {
  const { service } = await begun();
  service.taxId = "987654321";
  await world.sign();
  const { send } = await world.look();
  service.meanwhile = async () => {
    service.meanwhile = undefined;
    await meanwhile();
  };
  await world.take(send?.inputId ?? "");
  expect(service.writes).toEqual([]);
});

describe("what can't be sent", () => {
  test("is told to a person once, reminded of, and at last given up and forgotten", async () => {
    const { service } = await begun();
    await world.give("tax", DATA.tax);
    service.refuse("PATCH /tax", ...Array.from({ length: 9 }, () => ({ status: 403 })));
    const now = await world.untilWaits();
    expect(now).toMatchObject({ phase: "tax", needsAction: true, send: { step: "tax" } });
    expect(now.waitingFor).toContain("does not take the step tax now");
    await world.untilWaits();
    expect(await world.told("onboarding")).toEqual([now.waitingFor]);
    world.pass(3);
    await world.untilWaits();
    expect(await world.told("reminder")).toHaveLength(1);
    world.pass(7);
    expect(await world.untilWaits()).toMatchObject({ phase: "expired", ended: true });
    expect(await world.kept()).toBe(0);
  });

  test("is sent as soon as it can be, and nobody waits for it any more", async () => {
    const { service } = await begun();
    await world.give("tax", DATA.tax);
    service.refuse("PATCH /tax", { status: 401 }, { status: 403 });
    expect((await world.untilWaits()).needsAction).toBe(true);
    expect((await world.untilWaits()).needsAction).toBe(true);
    const now = await world.untilWaits();
    expect(now).toMatchObject({ phase: "signature", send: null });
    expect(await world.states()).toEqual(["tax done"]);
  });

  test("because this worker lacks the key, waits for the key or for the value anew", async () => {
    const { service } = await begun();
    await world.give("tax", DATA.tax);
    world.keys = [{ id: "new", key: Buffer.alloc(32, 2) }];
    const now = await world.untilWaits();
    expect(now).toMatchObject({ phase: "tax", needsAction: true });
    expect(now.waitingFor).toContain("“old”, which this process doesn't have");
    expect(await world.told("onboarding")).toHaveLength(1);
    world.keys = [{ id: "old", key: Buffer.alloc(32, 3) }];
    expect((await world.untilWaits()).waitingFor).toContain("the key is another one of that name");
    expect(service.writes).toEqual([]);
    world.keys = [OLD_KEY];
    expect((await world.untilWaits()).phase).toBe("signature");
    expect(service.taxId).toBe("987654321");
  });

  test("because nobody answers, is looked for before it is sent again", async () => {
    const { service } = await begun();
    await world.give("tax", DATA.tax);
    service.refuse("PATCH /tax", { status: 502, body: {} }, { status: 502, body: {}, takes: true });
    const first = await world.untilWaits();
    expect(first.waitingFor).toContain("did not say whether it has it");
    await world.untilWaits();
    expect(service.writes).toEqual(["PATCH /tax"]);
    world.pass(1);
    await world.untilWaits();
    expect(service.writes).toEqual(["PATCH /tax", "PATCH /tax"]);
    expect(await world.untilWaits()).toMatchObject({ phase: "signature" });
    expect(service.writes).toHaveLength(2);
  });
});

const BEFORE: readonly (readonly [OnboardingPhase, (service: KybService) => void])[] = [
  ["tax", () => undefined],
  [
    "signature",
    (service) => {
      service.taxId = "987654321";
    },
  ],
  ["officers", (service) => taken(service, [])],
  ["certification", (service) => taken(service, [{ lastName: "Okafor" }])],
  ["documents", (service) => allTaken(service, "document")],
  ["suspended", (service) => allTaken(service, "suspended")],
  ["review", (service) => allTaken(service, "pending")],
];

test.each(BEFORE)("who waits in %s is reminded, and the wait expires", async (phase, prepare) => {
  const { service } = await begun();
  prepare(service);
  expect(await world.untilWaits()).toMatchObject({ phase, needsAction: phase !== "review" });
  world.pass(3);
  await world.untilWaits();
  await world.untilWaits();
  expect(await world.told("reminder")).toHaveLength(1);
  world.pass(4);
  await world.untilWaits();
  expect(await world.told("reminder")).toHaveLength(2);
  world.pass(3);
  expect(await world.untilWaits()).toMatchObject({ phase: "expired", ended: true });
});

function taken(service: KybService, officers: readonly { lastName: string }[]): void {
  service.taxId = "987654321";
  service.signer = "Ada Okafor";
  service.officers.push(...officers);
}

function allTaken(service: KybService, status: string): void {
  taken(service, [{ lastName: "Okafor" }]);
  service.certifier = "Ada Okafor";
  service.status = status;
}

test("a second suspension, or the same documents again, is told and reminded of like the first", async () => {
  const { service } = await begun();
  for (const status of ["suspended", "pending", "suspended", "document", "pending", "document"]) {
    allTaken(service, status);
    world.pass(1);
    await world.untilWaits();
    world.pass(3);
    await world.untilWaits();
  }
  const told = await world.told("onboarding");
  expect(told.filter((text) => text.includes("suspended"))).toHaveLength(2);
  expect(told.filter((text) => text.includes("documents"))).toHaveLength(2);
  expect(await world.told("reminder")).toHaveLength(6);
});

describe("a service that can't be read", () => {
  test("is told of once, and the wait that was under way ends in its time", async () => {
    const { service } = await begun();
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

  test("from the first moment on is waited for no longer than anything else", async () => {
    const { service } = await begun();
    service.refuse("GET /tax/detailed", ...Array.from({ length: 9 }, () => ({ status: 404 })));
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
  test("is given each step once, documents too, also after the onboarding began anew", async () => {
    const { service } = await begun(word);
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

  test("gets another officer's certification, and another tax id's signature, anew", async () => {
    const { service } = await begun(word);
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

test("another tax id with the same last four digits is sent where a person says so", async () => {
  const { service } = await begun();
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

  test("that a service never counts are not tried a third time unasked, and on one account", async () => {
    const { service } = await begun();
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

test("reasons of refusals show nothing of what was sent, in whatever way the service writes it", async () => {
  const { service } = await begun();
  await world.give("tax", DATA.tax);
  await world.sign();
  await world.give("officers", ADA);
  const words = `${ADA.dateOfBirth.replaceAll("-", "/")}, ${PLANTED.ssn.replaceAll("-", " ")}, ${PLANTED.street.toUpperCase()}`;
  service.refuse("POST /officers", refused(words));
  await world.untilWaits();
  const reason = (await world.inputs()).at(-1)?.reason ?? "";
  expect(reason).toContain("•••");
  for (const part of ["1979", "321", "HARBOR"]) expect(reason).not.toContain(part);
});
