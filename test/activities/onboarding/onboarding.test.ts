import { describe, expect, test } from "vitest";
import type { OnboardingPhase } from "../../../src/contracts/onboarding.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { endInputs } from "../../../src/store/onboarding/onboarding-inputs.ts";
import { endOnboarding } from "../../../src/store/onboarding/onboardings.ts";
import type { KybService } from "../../support/kyb-service.ts";
import { BEN, DATA, PLANTED } from "../../support/onboarding.ts";
import { allTaken, onboardings, refusedSaying, taken } from "../kyb-scene.ts";
import { type KybWorld, OLD_KEY } from "../kyb-world.ts";

const begin = onboardings();

describe("a legal act", () => {
  test("a legal act is not sent if a part of what it covers was refused later", async () => {
    const world = await begin();
    const { service } = world;
    await world.giveAll();
    service.refuse(
      "POST /officers",
      { status: 202, takes: true },
      refusedSaying(`No ${PLANTED.otherSsn}`),
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
    expect(now.soFar).toBe("the service has tax, signature, officers");
    expect(now.waitingFor).toContain("An officer was refused");
    expect(JSON.stringify(await world.inputs())).not.toContain(PLANTED.otherSsn);
    await world.give("officers", BEN);
    await world.certify();
    expect((await world.untilWaits()).phase).toBe("review");
    expect(service.certifier).toBe(DATA.certification.certifierName);
    const trail = await listAudit(world.store.db, { businessId: service.businessId });
    expect(trail.map(({ action }) => action)).toContain("onboarding.voided");
  });

  test("a signature is not sent for an older tax id that the service has after it refused the new one", async () => {
    const world = await begin();
    const { service } = world;
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

test("an input whose turn has not come is not sent, whoever names it", async () => {
  const world = await begin();
  const { service } = world;
  await world.giveAll();
  const last = (await world.inputs()).find(({ step }) => step === "certification");
  expect(await world.take(last?.inputId ?? "")).toEqual({ againInMs: 0 });
  expect([service.certifier, service.taxId]).toEqual([null, null]);
  expect((await world.untilWaits()).phase).toBe("review");
  expect(service.certifier).toBe(DATA.certification.certifierName);
});

test.each([
  [
    "replaced",
    async (world: KybWorld) => {
      const waiting = (await world.inputs()).filter(({ step }) => step === "signature");
      const end = { state: "replaced", reason: null } as const;
      await world.store.transaction((trx) => endInputs(trx, waiting, end));
    },
  ],
  [
    "ended with its onboarding",
    (world: KybWorld) =>
      world.store.transaction(async (trx) => {
        await endOnboarding(trx, world.service.businessId, Date.now());
      }),
  ],
])(
  "an input that is %s while the service is read is not sent any more",
  async (_what, meanwhile) => {
    const world = await begin();
    const { service } = world;
    service.taxId = "987654321";
    await world.sign();
    const { send } = await world.look();
    service.meanwhile = async () => {
      service.meanwhile = undefined;
      await meanwhile(world);
    };
    await world.take(send?.inputId ?? "");
    expect(service.writes).toEqual([]);
  },
);

describe("an input that can't be sent", () => {
  test("an input that can't be sent causes one notice and a reminder, then expires and is deleted", async () => {
    const world = await begin();
    const { service } = world;
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

  test("an input that the service refused to take is sent as soon as it can be, and needs no person then", async () => {
    const world = await begin();
    const { service } = world;
    await world.give("tax", DATA.tax);
    service.refuse("PATCH /tax", { status: 401 }, { status: 403 });
    expect((await world.untilWaits()).needsAction).toBe(true);
    expect((await world.untilWaits()).needsAction).toBe(true);
    const now = await world.untilWaits();
    expect(now).toMatchObject({ phase: "signature", send: null });
    expect(await world.states()).toEqual(["tax done"]);
  });

  test("an input whose key this worker lacks waits for the key", async () => {
    const world = await begin();
    const { service } = world;
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

  test("an input without an answer is looked up before it is sent again", async () => {
    const world = await begin();
    const { service } = world;
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
];

test.each(BEFORE)(
  "an onboarding that waits in %s causes reminders and then expires",
  async (phase, prepare) => {
    const world = await begin();
    const { service } = world;
    prepare(service);
    expect(await world.untilWaits()).toMatchObject({ phase, needsAction: true });
    world.pass(3);
    await world.untilWaits();
    await world.untilWaits();
    expect(await world.told("reminder")).toHaveLength(1);
    world.pass(4);
    await world.untilWaits();
    expect(await world.told("reminder")).toHaveLength(2);
    world.pass(3);
    expect(await world.untilWaits()).toMatchObject({ phase: "expired", ended: true });
  },
);

test("the service's own review never expires, and causes one reminder once it takes too long", async () => {
  const world = await begin();
  allTaken(world.service, "pending");
  expect(await world.untilWaits()).toMatchObject({ phase: "review", needsAction: false });
  world.pass(9);
  await world.untilWaits();
  expect(await world.told("reminder")).toEqual([]);
  world.pass(1);
  await world.untilWaits();
  await world.untilWaits();
  const [told, ...others] = await world.told("reminder");
  expect(told).toContain("That has taken 10 days: ask the service's support");
  expect(others).toEqual([]);
  world.pass(60);
  expect(await world.untilWaits()).toMatchObject({ phase: "review", ended: false });
  allTaken(world.service, "verified");
  expect(await world.untilWaits()).toMatchObject({ phase: "verified", ended: true });
});

test("a repeated suspension or request for documents causes notices and reminders again", async () => {
  const world = await begin();
  const { service } = world;
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
  expect(await world.told("reminder")).toHaveLength(4);
});
