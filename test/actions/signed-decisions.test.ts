import { describe, expect } from "vitest";
import { DAY_MS } from "../../src/contracts/durations.ts";
import { DecisionBody } from "../../src/api/schemas.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { approversOf } from "../support/approvers-of.ts";
import { makeSigner, signDecision } from "../support/signing.ts";
import { profile, type Answer, type TestGateway } from "../gateway/support/gateway.ts";
import { gatewayOf, gatewayTest } from "../gateway/support/gateway-test.ts";
import { planLine, seedRun, type SeededRun } from "../gateway/support/rows.ts";

const erp = makeSigner();
const stranger = makeSigner("stranger");
const lou = makeSigner("lou");

const signers = [erp, lou].map(({ keyId, name, roles, publicKey }) => ({
  keyId,
  name,
  roles,
  publicKey,
}));
const test = gatewayTest({ profiles: [profile({ signers })] })
  .extend("run", { auto: true }, ({ gateway }) =>
    seedRun(gateway.store, {
      launchedBy: "lou",
      author: "ada",
      lines: [planLine("p1"), planLine("p2"), planLine("p_large", { approvers: ["owner"] })],
    }),
  )
  .extend("courier", ({ gateway }) => gateway.token("courier", ["viewer"]));

function sign(run: SeededRun, claims: Record<string, unknown> = {}, signer = erp): string {
  return signDecision(signer, { sub: run.runId, planHash: run.planHash, ...claims });
}

async function send(
  gateway: TestGateway,
  run: SeededRun,
  courier: string,
  signed: string,
  token: string | null = courier,
): Promise<Answer> {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  return gateway.call("POST", path, token, { signed });
}

async function approvers(gateway: TestGateway, run: SeededRun): Promise<Record<string, string[]>> {
  const ids = ["p1", "p2", "p_large"];
  const found = await approversOf(gateway.store.db, run.runId, ids, Date.now());
  return Object.fromEntries(found);
}

async function lastEntry(
  gateway: TestGateway,
  run: SeededRun,
): Promise<{ actor: string; action: string; details: object }> {
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
  const last = trail.at(-1);
  if (last === undefined) throw new Error("the trail is empty");
  return last;
}

describe("a signed decision over the gateway", () => {
  test("a signed decision counts for the signer's roles, whoever delivers it, and its proof is kept", async ({
    gateway,
    run,
    courier,
  }) => {
    const signed = sign(run, { jti: "d-1", drop: ["p2"] });
    const answer = await send(gateway, run, courier, signed);
    expect(answer.status).toBe(200);
    expect(DecisionBody.parse(answer.json)).toMatchObject({ countsFor: ["p1"], dropped: ["p2"] });
    expect(await approvers(gateway, run)).toEqual({ p1: ["erp"] });
    expect(await lastEntry(gateway, run)).toMatchObject({
      actor: "erp",
      action: "run.approved",
      details: { keyId: "erp-2026", via: "gateway, sent by courier", signedDecision: signed },
    });
  });

  test("a signed decision that doesn't say how a changed bank account was verified counts for nothing", async ({
    gateway,
    courier,
  }) => {
    const flags = [{ kind: "changed-bank-account", text: "It ends in 4417 now." }] as const;
    const changes = { contactId: "con_new", contactName: "Acme Paper", flags };
    const run = await seedRun(gateway.store, {
      ...{ launchedBy: "lou", author: "ada", period: "2026-11-27" },
      lines: [planLine("q1"), planLine("q2", changes)],
    });
    const silent = await send(gateway, run, courier, sign(run));
    expect([silent.status, silent.json]).toMatchObject([
      422,
      {
        error: "bank_change_unverified",
        message: expect.stringContaining("the bank account of Acme Paper (con_new) has changed"),
        details: { accepted: false, contactIds: ["con_new"] },
      },
    ]);
    const odd = await send(
      gateway,
      run,
      courier,
      sign(run, { verifiedBankChanges: [{ contactId: "con_new", person: 7 }] }),
    );
    expect(odd.status).toBeGreaterThanOrEqual(400);
    const verified = [{ contactId: "con_new", person: "Ann Lee", phone: "+1 212 555 0100" }];
    const answer = await send(gateway, run, courier, sign(run, { verifiedBankChanges: verified }));
    expect(DecisionBody.parse(answer.json)).toMatchObject({ countsFor: ["q1", "q2"] });
    const kept = await decisionsOfRun(gateway.store.db, run.runId);
    expect(kept.at(-1)).toMatchObject({ principal: "erp", bankChanges: verified });
    expect(await lastEntry(gateway, run)).toMatchObject({
      details: { verifiedBankChanges: verified },
    });
  });

  test("the same signed decision again is answered with the first outcome, and decides nothing", async ({
    gateway,
    run,
    courier,
  }) => {
    const signed = sign(run, { jti: "d-1" });
    const first = await send(gateway, run, courier, signed);
    const { alreadySince, ...again } = DecisionBody.parse(
      (await send(gateway, run, courier, signed)).json,
    );
    expect(again).toEqual(DecisionBody.parse(first.json));
    expect(alreadySince).toMatch(/Z$/);
    expect(await lastEntry(gateway, run)).toMatchObject({ action: "run.approved" });
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
    const refused = sign(run, { planHash: "f".repeat(64) });
    const refusals = [
      await send(gateway, run, courier, refused),
      await send(gateway, run, courier, refused),
    ];
    expect(refusals[1]?.json).toEqual(refusals[0]?.json);
    expect(refusals.map(({ status }) => status)).toEqual([409, 409]);
  });

  test("a signed decision that was taken in time gets its first outcome also after it has expired", async () => {
    let nowMs = Date.now();
    const gateway = await gatewayOf({ profiles: [profile({ signers })], nowMs: () => nowMs });
    const run = await seedRun(gateway.store, { lines: [planLine("p1")] });
    const courier = await gateway.token("courier", ["viewer"]);
    const signed = sign(run, { jti: "d-1" });
    const { json: first } = await send(gateway, run, courier, signed);
    nowMs += DAY_MS;
    const late = await send(gateway, run, courier, signed);
    expect([late.status, late.json]).toMatchObject([200, first]);
    expect(late.json["alreadySince"]).toMatch(/Z$/);
    for (const never of [
      sign(run, { jti: "d-1", decision: "reject" }),
      sign(run, { jti: "d-2" }),
    ]) {
      expect((await send(gateway, run, courier, never)).json["error"]).toBe("expired");
    }
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
  });

  test("another decision with the id of one that was taken is refused, with the first outcome, and noted in the trail", async ({
    gateway,
    run,
    courier,
  }) => {
    const signed = sign(run, { jti: "d-1" });
    expect((await send(gateway, run, courier, signed)).status).toBe(200);
    const other = sign(run, { jti: "d-1", decision: "reject" });
    const again = await send(gateway, run, courier, other);
    expect([again.status, again.json]).toMatchObject([
      409,
      { error: "replayed", details: { accepted: false, earlier: { outcome: "accepted" } } },
    ]);
    expect(await lastEntry(gateway, run)).toMatchObject({
      actor: "erp",
      action: "run.decision-refused",
      details: { code: "replayed" },
    });
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
  });

  test("a signed decision is taken once even if ten deliveries race", async ({
    gateway,
    run,
    courier,
  }) => {
    const signed = sign(run);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(gateway, run, courier, signed)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ json }) => json["alreadySince"] === undefined)).toHaveLength(1);
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
  });

  test.for<[string, (run: SeededRun) => string, number, string]>([
    ["of an unknown key", (run) => sign(run, {}, stranger), 403, "unknown_key"],
    ["of another plan", (run) => sign(run, { planHash: "f".repeat(64) }), 409, "stale_plan"],
    [
      "of another run",
      (run) => sign(run, { sub: "pay-run/acme/weekly/2026-11-27" }),
      403,
      "foreign",
    ],
    [
      "that has expired",
      (run) => sign(run, { iat: 1_700_000_000, exp: 1_700_000_600 }),
      403,
      "expired",
    ],
    ["in the name of another", (run) => sign(run, { iss: "cora" }), 403, "wrong_principal"],
    ["of the launcher's own key", (run) => sign(run, {}, lou), 403, "launcher"],
    [
      "that drops a stranger's bill",
      (run) => sign(run, { drop: ["p_none"] }),
      422,
      "unknown_payable",
    ],
    [
      "that drops what isn't its own",
      (run) => sign(run, { drop: ["p_large"] }),
      403,
      "role_missing",
    ],
    ["of no shape", () => "approve, please", 422, "malformed"],
  ])(
    "a signed decision %s changes nothing, and the refusal is audited",
    async ([_what, make, status, code], { gateway, run, courier }) => {
      const answer = await send(gateway, run, courier, make(run));
      expect([answer.status, answer.json["error"]]).toEqual([status, code]);
      expect(await approvers(gateway, run)).toEqual({});
      const entry = await lastEntry(gateway, run);
      expect(entry.action).toBe("run.decision-refused");
      expect(entry.details).toMatchObject({ code });
    },
  );

  test("a forged copy that arrives first does not invalidate the signed decision", async ({
    gateway,
    run,
    courier,
  }) => {
    const signed = sign(run, { jti: "d-1" });
    const broken = sign(run, { jti: "d-1" }, { ...stranger, keyId: erp.keyId, name: "erp" });
    expect((await send(gateway, run, courier, broken)).json["error"]).toBe("bad_signature");
    expect((await send(gateway, run, courier, signed)).status).toBe(200);
  });

  test("a signed decision must be delivered with a token and with no other fields", async ({
    gateway,
    run,
    courier,
  }) => {
    expect((await send(gateway, run, courier, sign(run), null)).status).toBe(401);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
    const both = await gateway.call("POST", path, courier, { signed: sign(run), drop: ["p1"] });
    expect([both.status, both.json["error"]]).toEqual([400, "validation_error"]);
    const neither = await gateway.call("POST", path, courier, {});
    expect(neither.status).toBe(400);
    expect(await approvers(gateway, run)).toEqual({});
  });

  test("a signed decision and a token of the same name count as one person", async ({
    gateway,
    run,
    courier,
  }) => {
    await send(gateway, run, courier, sign(run));
    const token = await gateway.token("ERP", ["controller"]);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
    await gateway.call("POST", path, token, { decision: "approve", planHash: run.planHash });
    expect(await approvers(gateway, run)).toEqual({ p1: ["erp"], p2: ["erp"] });
  });

  test("a signed rejection rejects the run", async ({ gateway, run, courier }) => {
    expect(
      (
        await send(
          gateway,
          run,
          courier,
          sign(run, { decision: "reject", comment: "not this week" }),
        )
      ).status,
    ).toBe(200);
    const [decision] = await decisionsOfRun(gateway.store.db, run.runId);
    expect(decision).toMatchObject({ decision: "reject", comment: "not this week" });
  });
});
