import { expect, test } from "vitest";
import { SIGNAL, UPDATE } from "../../../src/contracts/names.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { paymentRequests } from "../../support/scene.ts";
import { makeSigner, signDecision } from "../../support/signing.ts";
import { approve, plannedRun, stacks } from "../../support/stack.ts";

const start = stacks();

/** Changes what a signed decision says, and leaves its signature as it is. */
function altered(signed: string, change: Readonly<Record<string, unknown>>): string {
  const [head = "", claims = "", signature = ""] = signed.split(".");
  const said = JSON.parse(Buffer.from(claims, "base64url").toString()) as object;
  const now = Buffer.from(JSON.stringify({ ...said, ...change })).toString("base64url");
  return [head, now, signature].join(".");
}

test("altered, borrowed and foreign decisions that are sent to a run's open workflow approve nothing, and the true one counts once", async () => {
  const [erp, thief] = [makeSigner("erp"), makeSigner("erp")];
  const payrun = await start({ signers: erp.setting });
  const { runId } = await plannedRun(payrun, [100_00]);
  const { planHash } = await payrun.status(runId);
  const claims = { sub: runId, planHash };
  const rejects = signDecision(erp, { ...claims, decision: "reject" });
  const forged = [
    altered(rejects, { decision: "approve" }),
    altered(signDecision(erp, { ...claims, planHash: "f".repeat(64) }), { planHash }),
    altered(signDecision(erp, { ...claims, sub: `${runId}/r2` }), { sub: runId }),
    altered(signDecision(erp, { ...claims, exp: 1 }), { exp: 4e9 }),
    altered(signDecision(erp, { ...claims, iss: "erp" }), { iss: "controller" }),
    signDecision(erp, { ...claims, sub: `${runId}/r2` }),
    signDecision(thief, claims),
    "nothing.of.ours",
  ];
  const handle = payrun.temporal.workflow.getHandle(runId);
  for (const signed of forged) {
    await handle.signal(SIGNAL.decide, signed);
    const answer = await handle.executeUpdate<{ accepted: boolean }, [string]>(UPDATE.decide, {
      args: [signed],
    });
    expect(answer.accepted).toBe(false);
  }
  expect(await payrun.status(runId)).toMatchObject({ phase: "awaiting-approval" });
  expect(await paymentRequests(payrun)).toBe(0);
  const signed = signDecision(erp, claims);
  const answers = [];
  for (let times = 0; times < 2; times += 1) {
    answers.push(
      await handle.executeUpdate<{ accepted: boolean }, [string]>(UPDATE.decide, {
        args: [signed],
      }),
    );
  }
  // The same again, as after a lost answer, gets the first outcome and does nothing.
  expect(answers).toMatchObject([{ accepted: true }, { accepted: true }]);
  await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
  expect(await paymentRequests(payrun)).toBe(1);
});

test("with encrypted histories, payloads that are plain or can't be decoded only stop a run, operators hear of it, and it goes on once its workflow was ended", async () => {
  const payrun = await start({ sandbox: false, janitorEveryMs: 2_000 });
  const { runId } = await plannedRun(payrun, [100_00]);
  const { workflowService, options } = payrun.temporal;
  const send = (signalName: string, encoding: string, data: string) =>
    workflowService.signalWorkflowExecution({
      ...{ namespace: options.namespace, workflowExecution: { workflowId: runId }, signalName },
      input: {
        payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }],
      },
    });
  await send(SIGNAL.decide, "json/plain", '"mallory"');
  await send(SIGNAL.eventsArrived, "json/plain", '{"phase":"completed"}');
  expect(await payrun.status(runId)).toMatchObject({ phase: "awaiting-approval" });
  await send(SIGNAL.eventsArrived, "binary/encrypted", "mallory");
  const told = async () =>
    (await listNotices(payrun.store.db, { kind: "workflow-stopped", limit: 9 })).map(
      ({ subject }) => subject,
    );
  await expect
    .poll(told, { timeout: 180_000, interval: 1_000 })
    .toEqual([`${runId} can't go on: its tasks fail again and again`]);
  expect(await paymentRequests(payrun)).toBe(0);
  await payrun.temporal.workflow.getHandle(runId).terminate("as the notice says");
  await approve(payrun, runId);
  await payrun.until(runId, "on hold", ({ counts }) => (counts["on-hold"] ?? 0) === 1);
  const { body } = await payrun.call<{ items: { id: string }[] }>("operator", "GET", "/v1/holds");
  for (const { id } of body.items) await payrun.call("operator", "DELETE", `/v1/holds/${id}`);
  await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
  expect(await paymentRequests(payrun)).toBe(1);
});
