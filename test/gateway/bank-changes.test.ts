import { describe, expect } from "vitest";
import { createBusinessClocks } from "../../src/actions/clocks.ts";
import type { LineFlag } from "../../src/contracts/pay-run.ts";
import { askingHowVerified } from "../../src/decisions/deciding.ts";
import { test as decidingTest } from "./support/deciding.ts";
import { profile } from "./support/gateway.ts";
import { planLine, seedRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const NEW_ACCOUNT: LineFlag = {
  kind: "changed-bank-account",
  text: "The vendor's bank account ends in 4417 now.",
};

const test = decidingTest
  .extend("scene", async ({ scene }) => {
    scene.run = await seedRun(scene.gateway.store, {
      ...{ launchedBy: "lou", author: "ada", period: "2026-11-27" },
      lines: [planLine("q1"), planLine("q2", { flags: [NEW_ACCOUNT], contactId: "con_new" })],
    });
    return scene;
  })
  .extend("carla", ({ scene }) => scene.gateway.token("carla", ["controller"]));

describe("a vendor's changed bank account", () => {
  const verified = { contactId: "con_new", person: "Ann Lee", phone: "+1 212 555 0100" };

  test("an approval of a changed account must say who was called, and on which number", async ({
    scene,
    carla,
  }) => {
    const silent = await scene.decide(carla);
    expect(silent.status).toBe(422);
    expect(silent.json).toMatchObject({ error: "bank_change_unverified" });
    expect(silent.json["message"]).toContain('--verified "Vendor of q2=PERSON, NUMBER"');
    const other = await scene.decide(carla, {
      verifiedBankChanges: [{ ...verified, contactId: "con_q1" }],
    });
    expect(other.status).toBe(422);
    for (const half of [{ person: " " }, { phone: "" }]) {
      const answer = await scene.decide(carla, { verifiedBankChanges: [{ ...verified, ...half }] });
      expect(answer.status).toBe(400);
    }
    expect(await scene.outcomes()).toEqual([]);
    const done = await scene.decide(carla, { verifiedBankChanges: [verified] });
    expect(done.status).toBe(200);
    expect(done.json["countsFor"]).toEqual(["q1", "q2"]);
    const again = await scene.decide(carla, { verifiedBankChanges: [verified] });
    expect(again.status).toBe(200);
  });

  test("explain says with whom a bill's changed account was verified", async ({ scene, carla }) => {
    await scene.decide(carla, { verifiedBankChanges: [verified] });
    const told = await typed(scene.gateway, carla, ["explain", "BILL-q2"]);
    expect(told.stdout).toContain(
      "new bank account verified with Ann Lee, called on +1 212 555 0100",
    );
    const other = await typed(scene.gateway, carla, ["explain", "BILL-q1"]);
    expect(other.stdout).not.toContain("Ann Lee");
  });

  test("in a sandbox, a changed account may be approved without a verification", async ({
    scene,
  }) => {
    const known = await createBusinessClocks().read(profile());
    const change = { contactId: "con_new", contactName: "Vendor", text: "It has changed." };
    const refusalOf = (sandbox: boolean, said?: { person: string; phone: string }) => {
      const request = {
        ...({ decision: "approve", planHash: scene.run.planHash, drop: [] } as const),
        verifiedBankChanges: said === undefined ? [] : [{ ...verified, ...said }],
      };
      const counted = { accepted: true, countsFor: [], dropped: [] } as const;
      const answer = askingHowVerified({ request, clock: known.with({ sandbox }) }, counted, [
        change,
      ]);
      return answer.accepted ? null : answer.code;
    };
    expect([refusalOf(true), refusalOf(false)]).toEqual([null, "bank_change_unverified"]);
    expect(refusalOf(true, { person: "y", phone: "y" })).toBe("bank_change_unverified");
  });

  test("a verification that names no person, or no number that can be called, is refused", async ({
    scene,
    carla,
  }) => {
    for (const said of [
      { person: "y" },
      { person: "Yes." },
      { phone: "y" },
      { phone: "0000000" },
    ]) {
      const answer = await scene.decide(carla, { verifiedBankChanges: [{ ...verified, ...said }] });
      expect([answer.status, answer.json]).toMatchObject([
        422,
        {
          error: "bank_change_unverified",
          message: expect.stringMatching(/Vendor of q2 doesn't describe a call\. Say the /),
        },
      ]);
    }
    expect(await scene.outcomes()).toEqual([]);
  });

  test("leaving the bill out, or rejecting the run, needs no verification", async ({
    scene,
    carla,
  }) => {
    expect((await scene.decide(carla, { drop: ["q2"] })).status).toBe(200);
    const otto = await scene.gateway.token("otto", ["owner"]);
    expect((await scene.decide(otto, { decision: "reject" })).status).toBe(200);
  });
});
