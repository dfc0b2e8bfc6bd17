import { describe, expect } from "vitest";
import { DEPOSITS, test } from "../deposit-scene.ts";
import type { MoneyWorld } from "../money-world.ts";

describe("making a deposit once", () => {
  test.for([
    ["the answer is a 500 after the effect", { when: "after", effect: "status", status: 500 }],
    ["the answer is lost after the effect", { when: "after", effect: "drop" }],
    ["the answer can't be read", { when: "after", effect: "malformed" }],
    ["the service fails before it", { when: "before", effect: "status", status: 503 }],
    ["the request dies at the service", { when: "during", effect: "drop" }],
    [
      "the service asks to slow down",
      { when: "before", effect: "status", status: 429, retryAfter: 1 },
    ],
  ] as const)("a deposit is made once if %s", async ([_, fault], { scene, world }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    await world.control.faults([{ method: "POST", path: DEPOSITS, ...fault, times: 1 }]);
    expect(await scene.untilMade(planned)).toMatchObject({ state: "on-its-way" });
    const made = await scene.attempts(planned);
    expect(made.at(-1)).toMatchObject({ operation: "deposit", state: "applied" });
    await scene.movedOnce();
  });

  test("a deposit is made once if the process dies after the effect and before the answer", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const client = world.context().clientOf("acme");
    const send = client.sendMoneyWrite.bind(client);
    world.override = {
      sendMoneyWrite: async (write) => {
        await send(write);
        throw new Error("killed");
      },
    };
    await expect(scene.step(planned)).rejects.toThrow("killed");
    expect(await scene.topUp(planned)).toMatchObject({ state: "sending" });
    world.override = {};
    expect((await world.assess(planned.runId)).toDeposit).toBe(true);
    await scene.untilMade(planned);
    const [attempt, ...others] = await scene.attempts(planned);
    expect(attempt).toMatchObject({ state: "applied", isAnswered: false });
    expect(others).toEqual([]);
    await scene.movedOnce();
  });

  test("a deposit is made once if the process dies before the request leaves", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    world.override = { sendMoneyWrite: () => Promise.reject(new Error("killed")) };
    await expect(scene.step(planned)).rejects.toThrow("killed");
    world.override = {};
    await scene.untilMade(planned);
    expect(await scene.attempts(planned)).toHaveLength(1);
    await scene.movedOnce();
  });

  /** Really sends the first write, but answers it in a way that the sandbox never does. */
  function answerInstead(world: MoneyWorld, status: number, body: unknown): { sent: number } {
    const counted = { sent: 0 };
    const client = world.context().clientOf("acme");
    const send = client.sendMoneyWrite.bind(client);
    world.override = {
      sendMoneyWrite: async (write) => {
        counted.sent += 1;
        if (counted.sent > 1) return send(write);
        await send(write);
        return { kind: "http", status, body, bodyText: JSON.stringify(body) } as never;
      },
    };
    return counted;
  }

  test.for([
    ["a yes without an id", 202, { status: "accepted" }],
    ["a yes that names it in another place", 201, { deposit: { id: "dep_1" } }],
    ["that it can't say", 409, { error: "payment_unconfirmed", message: "unknown" }],
    ["that the key is in use", 409, { error: "idempotency_conflict", message: "in use" }],
    ["a proxy's page", 502, "<html>"],
    ["a redirect", 302, {}],
    ["a time-out of its own", 408, {}],
  ] as const)(
    "a deposit that the service makes but answers with %s is made once",
    async ([_, status, body], { scene, world }) => {
      const planned = await scene.shortRun();
      await scene.decide(planned);
      answerInstead(world, status, body);
      expect(await scene.untilMade(planned)).toMatchObject({ state: "on-its-way" });
      const made = await scene.attempts(planned);
      expect(made.map(({ seq, state }) => [seq, state])).toEqual([[1, "applied"]]);
      await scene.movedOnce();
    },
  );

  test.for([
    ["the token is refused for a while", 401, { statusCode: 401, message: "Unauthorized" }],
    ["the token lacks the scope for a while", 403, { error: "forbidden", message: "Forbidden" }],
    ["deposits are off for a while", 403, { error: "feature_unavailable", message: "off" }],
    ["the set-up is incomplete for a while", 409, { error: "setup_incomplete", message: "no" }],
    ["an account is locked for a while", 409, { error: "payments_locked", message: "locked" }],
  ] as const)("a deposit is made once after %s", async ([_, status, body], { scene, world }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    const answer = { kind: "http", status, body, bodyText: JSON.stringify(body) } as never;
    world.override = { sendMoneyWrite: () => Promise.resolve(answer) };
    await scene.step(planned);
    await world.world.pass(120_000);
    await scene.step(planned);
    expect((await scene.topUp(planned)).state).not.toBe("failed");
    expect((await scene.topUp(planned)).reason).not.toBeNull();
    world.override = {};
    for (let wait = 0; wait < 8; wait += 1) {
      if ((await scene.untilMade(planned)).state === "on-its-way") break;
      await world.world.pass(600_000);
    }
    const made = await scene.attempts(planned);
    expect(made.at(-1)).toMatchObject({ state: "applied" });
    await scene.movedOnce();
  });

  test("if another deposit of the same amount appears in the meantime, a person decides first", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "after", effect: "drop", times: 1 },
    ]);
    await scene.step(planned);
    await world.control.faults();
    const body = { amountCents: 10_000, bankAccountId: "bank_main" };
    await world.world.sandbox.api("POST", DEPOSITS, { key: "by-hand-2", body });
    await scene.untilMade(planned);
    const stuck = await scene.topUp(planned);
    expect(stuck).toMatchObject({ state: "sending", reasonCode: "unclear" });
    expect(stuck.reason).toMatch(/look at the list of balance transactions, then reject it/);
    expect(await world.assess(planned.runId)).toMatchObject({ needsAction: true });
    expect(await scene.decide(planned, { decision: "reject" })).toMatchObject({ accepted: true });
    await world.world.pass(600_000);
    await scene.step(planned);
    expect(await scene.attempts(planned)).toHaveLength(1);
    await world.control.advance("P6D");
    expect((await scene.deposits()).filter(({ kind }) => kind === "credit")).toHaveLength(2);
  });

  test("a deposit with an unclear answer gets a new key only after the service's window", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "during", effect: "status", status: 500, times: 1 },
    ]);
    await scene.step(planned);
    await world.world.pass(5_000);
    await scene.step(planned);
    expect(await scene.attempts(planned)).toHaveLength(1);
    await world.world.pass(60_000);
    await scene.step(planned);
    expect(await scene.attempts(planned)).toHaveLength(1);
    await world.world.pass(540_000);
    await scene.step(planned);
    await scene.step(planned);
    expect((await scene.attempts(planned)).map(({ seq, state }) => [seq, state])).toEqual([
      [1, "dead"],
      [2, "applied"],
    ]);
    await scene.movedOnce();
  });

  test("a deposit that several workers attempt at the same moment is made once", async ({
    scene,
  }) => {
    const planned = await scene.shortRun();
    await scene.decide(planned);
    await Promise.all([scene.step(planned), scene.step(planned), scene.step(planned)]);
    await scene.untilMade(planned);
    expect(await scene.attempts(planned)).toHaveLength(1);
    await scene.movedOnce();
  });

  test("an external deposit of the same amount is not adopted as the run's own", async ({
    scene,
    world,
  }) => {
    const planned = await scene.shortRun();
    const body = { amountCents: 10_000, bankAccountId: "bank_main" };
    const byHand = await world.world.sandbox.api("POST", DEPOSITS, {
      key: "by-hand-1",
      body,
    });
    expect(byHand.status).toBe(201);
    await scene.decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "after", effect: "drop", times: 1 },
    ]);
    const made = await scene.untilMade(planned);
    expect(made.transactionId).not.toBe((byHand.body as { id: string }).id);
    await world.control.advance("P6D");
    expect((await scene.deposits()).filter(({ kind }) => kind === "credit")).toHaveLength(2);
  });
});
