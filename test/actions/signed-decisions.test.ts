import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DecisionBody } from "../../src/api/schemas.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { approversOf } from "../../src/store/approvals/line-approvals.ts";
import { makeSigner, signDecision } from "../support/signing.ts";
import {
  profile,
  startTestGateway,
  type Answer,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { planLine, seedRun, type SeededRun } from "../gateway/support/rows.ts";

const erp = makeSigner();
const stranger = makeSigner("stranger");
const lou = makeSigner("lou");

let gateway: TestGateway;
let run: SeededRun;
let courier: string;

beforeEach(async () => {
  const signers = [erp, lou].map(({ keyId, name, roles, publicKey }) => ({
    keyId,
    name,
    roles,
    publicKey,
  }));
  gateway = await startTestGateway({ profiles: [profile({ signers })] });
  run = await seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [planLine("p1"), planLine("p2"), planLine("p_large", { approvers: ["owner"] })],
  });
  courier = await gateway.token("courier", ["viewer"]);
});
afterEach(async () => gateway.stop());

function sign(claims: Record<string, unknown> = {}, signer = erp): string {
  return signDecision(signer, { sub: run.runId, planHash: run.planHash, ...claims });
}

async function send(signed: string, token: string | null = courier): Promise<Answer> {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  return gateway.call("POST", path, token, { signed });
}

async function approvers(): Promise<Record<string, string[]>> {
  const ids = ["p1", "p2", "p_large"];
  const found = await approversOf(gateway.store.db, run.runId, ids, Date.now());
  return Object.fromEntries(found);
}

async function lastEntry(): Promise<{ actor: string; action: string; details: object }> {
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
  const last = trail.at(-1);
  if (last === undefined) throw new Error("the trail is empty");
  return last;
}

describe("a signed decision over the gateway", () => {
  test("a signed decision counts for the signer's roles, whoever delivers it, and its proof is kept", async () => {
    const signed = sign({ jti: "d-1", drop: ["p2"] });
    const answer = await send(signed);
    expect(answer.status).toBe(200);
    expect(DecisionBody.parse(answer.json)).toMatchObject({ countsFor: ["p1"], dropped: ["p2"] });
    expect(await approvers()).toEqual({ p1: ["erp"] });
    expect(await lastEntry()).toMatchObject({
      actor: "erp",
      action: "run.approved",
      details: { keyId: "erp-2026", via: "gateway, sent by courier", signedDecision: signed },
    });
  });

  test("a signed decision that doesn't say how a changed bank account was verified counts for nothing", async () => {
    const flags = [{ kind: "changed-bank-account", text: "It ends in 4417 now." }] as const;
    const changes = { contactId: "con_new", contactName: "Acme Paper", flags };
    run = await seedRun(gateway.store, {
      ...{ launchedBy: "lou", author: "ada", period: "2026-11-27" },
      lines: [planLine("q1"), planLine("q2", changes)],
    });
    const silent = await send(sign());
    expect([silent.status, silent.json]).toMatchObject([
      422,
      {
        error: "bank_change_unverified",
        message: expect.stringContaining("the bank account of Acme Paper (con_new) has changed"),
        details: { accepted: false, contactIds: ["con_new"] },
      },
    ]);
    const odd = await send(sign({ verifiedBankChanges: [{ contactId: "con_new", person: 7 }] }));
    expect(odd.status).toBeGreaterThanOrEqual(400);
    const verified = [{ contactId: "con_new", person: "Ann Lee", phone: "+1 212 555 0100" }];
    const answer = await send(sign({ verifiedBankChanges: verified }));
    expect(DecisionBody.parse(answer.json)).toMatchObject({ countsFor: ["q1", "q2"] });
    const kept = await decisionsOfRun(gateway.store.db, run.runId);
    expect(kept.at(-1)).toMatchObject({ principal: "erp", bankChanges: verified });
    expect(await lastEntry()).toMatchObject({ details: { verifiedBankChanges: verified } });
  });

  test("a signed decision is taken once: a replay is refused with the reason and noted in the trail", async () => {
    const signed = sign({ jti: "d-1" });
    expect((await send(signed)).status).toBe(200);
    const again = await send(signed);
    expect([again.status, again.json["error"]]).toEqual([409, "replayed"]);
    expect(await lastEntry()).toMatchObject({
      actor: "erp",
      action: "run.decision-refused",
      details: { code: "replayed" },
    });
    expect(await decisionsOfRun(gateway.store.db, run.runId)).toHaveLength(1);
  });

  test("a signed decision is taken once even if ten deliveries race", async () => {
    const signed = sign();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(signed)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  test.each([
    ["of an unknown key", () => sign({}, stranger), 403, "unknown_key"],
    ["of another plan", () => sign({ planHash: "f".repeat(64) }), 409, "stale_plan"],
    ["of another run", () => sign({ sub: "pay-run/acme/weekly/2026-11-27" }), 403, "foreign"],
    ["that has expired", () => sign({ iat: 1_700_000_000, exp: 1_700_000_600 }), 403, "expired"],
    ["in the name of another", () => sign({ iss: "cora" }), 403, "wrong_principal"],
    ["of the launcher's own key", () => sign({}, lou), 403, "launcher"],
    ["that drops a stranger's bill", () => sign({ drop: ["p_none"] }), 422, "unknown_payable"],
    ["that drops what isn't its own", () => sign({ drop: ["p_large"] }), 403, "role_missing"],
    ["of no shape", () => "approve, please", 422, "malformed"],
  ])(
    "a signed decision %s changes nothing, and the refusal is audited",
    async (_what, make, status, code) => {
      const answer = await send(make());
      expect([answer.status, answer.json["error"]]).toEqual([status, code]);
      expect(await approvers()).toEqual({});
      const entry = await lastEntry();
      expect(entry.action).toBe("run.decision-refused");
      expect(entry.details).toMatchObject({ code: code.replaceAll("_", "-") });
    },
  );

  test("a forged copy that arrives first does not invalidate the signed decision", async () => {
    const signed = sign({ jti: "d-1" });
    const broken = sign({ jti: "d-1" }, { ...stranger, keyId: erp.keyId, name: "erp" });
    expect((await send(broken)).json["error"]).toBe("bad_signature");
    expect((await send(signed)).status).toBe(200);
  });

  test("a signed decision must be delivered with a token and with no other fields", async () => {
    expect((await send(sign(), null)).status).toBe(401);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
    const both = await gateway.call("POST", path, courier, { signed: sign(), drop: ["p1"] });
    expect([both.status, both.json["error"]]).toEqual([400, "validation_error"]);
    const neither = await gateway.call("POST", path, courier, {});
    expect(neither.status).toBe(400);
    expect(await approvers()).toEqual({});
  });

  test("a signed decision and a token of the same name count as one person", async () => {
    await send(sign());
    const token = await gateway.token("ERP", ["controller"]);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
    await gateway.call("POST", path, token, { decision: "approve", planHash: run.planHash });
    expect(await approvers()).toEqual({ p1: ["erp"], p2: ["erp"] });
  });

  test("a signed rejection rejects the run", async () => {
    expect((await send(sign({ decision: "reject", comment: "not this week" }))).status).toBe(200);
    const [decision] = await decisionsOfRun(gateway.store.db, run.runId);
    expect(decision).toMatchObject({ decision: "reject", comment: "not this week" });
  });
});
