import type { SentDecisionAnswer } from "../../src/contracts/activities.ts";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SIGNAL, UPDATE } from "../../src/contracts/names.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { isLong } from "../support/long.ts";
import { pageText } from "../support/docs.ts";
import { keepHistory } from "../support/keep-history.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { makeSigner, signDecision, type TestSigner } from "../support/signing.ts";
import { each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

const THREE_APPROVE = `kind: pay-run
select: { due: all }
pay: { on: next-business-day, from: balance }
review: []
approve: [{ by: [controller, owner], quorum: 3 }]
`;

/** Runs the example of docs/approvals.md as the system that has the signing key. */
async function runExample(payrun: TestPayrun, runId: string, signer: TestSigner): Promise<string> {
  const docs = pageText("docs/approvals.md");
  const code = /```js\n([^]*?)```/.exec(docs)?.[1] ?? "";
  const program = join(payrun.home, "sign.mjs");
  const keyFile = join(payrun.home, "erp.pem");
  await writeFile(program, code);
  await writeFile(keyFile, signer.privateKey.export({ type: "pkcs8", format: "pem" }));
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: {
      PAYRUN_GATEWAY_URL: payrun.gatewayUrl,
      PAYRUN_TOKEN: payrun.tokenOf("launcher"),
      SIGNING_KEY_FILE: keyFile,
      RUN_ID: runId,
    },
  });
  return stdout;
}

/** Sends a signed decision with the page's command of Temporal's CLI. */
async function updateByCommand(payrun: TestPayrun, runId: string, signed: string): Promise<string> {
  const docs = pageText("docs/approvals.md");
  const [, command = ""] = /^temporal (workflow update .*)$/m.exec(docs) ?? [];
  const { path } = await findTemporalCli({ env: process.env, log: () => undefined });
  const { stdout } = await promisify(execFile)("sh", ["-c", `"$CLI" ${command}`], {
    env: {
      PATH: process.env["PATH"],
      HOME: payrun.home,
      CLI: path,
      RUN_ID: runId,
      SIGNED: signed,
      TEMPORAL_ADDRESS: payrun.temporalAddress,
      TEMPORAL_NAMESPACE: payrun.namespace,
    },
  });
  return stdout;
}

test.runIf(isLong)(
  "signed decisions by gateway, update and signal pay a run once; forged and replayed ones do nothing",
  async () => {
    const [erp, crm, dms, thief] = ["erp", "crm", "dms", "erp"].map((name) => makeSigner(name));
    if (erp === undefined || crm === undefined || dms === undefined || thief === undefined) return;
    const payrun = await start({ signers: [erp, crm, dms].map(({ setting }) => setting).join() });
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00, 300_00], THREE_APPROVE);
    const { planHash } = await payrun.status(runId);
    const handle = payrun.temporal.workflow.getHandle(runId);
    const update = async (signed: string): Promise<SentDecisionAnswer> =>
      handle.executeUpdate(UPDATE.decide, { args: [signed] });
    const approvers = async (): Promise<readonly string[][]> =>
      (await payrun.status(runId)).payments.map(({ approvedBy }) => [...approvedBy].toSorted());

    const wrong = {
      bad_signature: signDecision(thief, { sub: runId, planHash }),
      foreign: signDecision(crm, { sub: `${runId}/r2`, planHash }),
      stale_plan: signDecision(crm, { sub: runId, planHash: "f".repeat(64) }),
      expired: signDecision(crm, { sub: runId, planHash, iat: 1_700_000_000, exp: 1_700_000_600 }),
      unknown_key: signDecision({ ...crm, keyId: "old" }, { sub: runId, planHash }),
    };
    for (const [code, signed] of Object.entries(wrong)) {
      const answer = await update(signed);
      expect([answer.accepted, answer.code, answer.message.length > 10]).toEqual([
        ...[false, code, true],
      ]);
    }
    const odd = handle.executeUpdate(UPDATE.decide, { args: [{ signed: wrong.expired }] });
    expect(await odd).toMatchObject({
      ...{ accepted: false, code: "malformed", message: expect.stringContaining("docs/") },
    });
    expect(await approvers()).toEqual([[], [], []]);

    expect(await runExample(payrun, runId, erp)).toMatch(/^200 .*"accepted":true/);
    const byCrm = signDecision(crm, { sub: runId, planHash, jti: "crm-1" });
    expect(await updateByCommand(payrun, runId, byCrm)).toMatch(/"?accepted"?: ?true/);
    expect(await update(byCrm)).toMatchObject({ accepted: true });
    const other = signDecision(crm, { sub: runId, planHash, jti: "crm-1", decision: "reject" });
    expect(await update(other)).toMatchObject({
      ...{ accepted: false, code: "replayed", earlier: { outcome: "accepted" } },
    });
    expect(await approvers()).toEqual(made.map(() => ["crm", "erp"]));

    // Signals wait in the history while no worker runs, and none of them ends the run's workflow.
    const execution = (await handle.describe()).runId;
    await payrun.killWorkers();
    await handle.signal(SIGNAL.decide, wrong["bad_signature"]);
    for (const noText of [undefined, null, 7, { signed: wrong.expired }]) {
      await handle.signal(SIGNAL.decide, noText);
    }
    await handle.signal(SIGNAL.decide, signDecision(dms, { sub: runId, planHash }));
    await payrun.startWorker();
    const done = await untilEnded(payrun, runId);
    expect((await handle.describe()).runId).toBe(execution);
    await keepHistory(payrun, runId, "pay-run-signed-decisions");
    expect(done.counts).toEqual({ settled: 3 });
    const { actual, expected } = await paidOnce(payrun, each(made));
    expect(actual).toEqual(expected);

    const { businessId } = payrun.sandbox.business;
    const trail = await listAudit(payrun.store.db, { businessId, subject: runId });
    const refused = trail.filter(({ action }) => action === "run.decision-refused");
    const codes = refused.map(({ details }) => String(details["code"]));
    const answered = [...Object.keys(wrong), "malformed", "replayed"];
    expect(codes.slice(0, answered.length)).toEqual(answered);
    const signaled = ["bad_signature", "malformed", "malformed", "malformed", "malformed"];
    expect(codes.slice(answered.length).toSorted()).toEqual(signaled);
    expect(refused.at(-1)?.actor).toBe("temporal");
  },
);
