import { reviewRun } from "../../activities/runs/review-run.ts";
import { planOnce } from "../../activities/runs/make-plan.ts";
import type { LineFlag } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { offCycleInputs } from "../../src/domain/off-cycle.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { inDays, type PlanningWorld, test as planningTest } from "../activities/planning-world.ts";
import { type Answer, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";
import type { Json } from "../support/sandbox.ts";

/** Flagged bills need two people, all others one. */
export const REVIEWED = payRunPlaybook({
  select: { due: "all" },
  review: ["likely-duplicate"],
  approve: [
    { review: true, overCents: null, where: null, by: ["controller", "owner"], quorum: 2 },
    { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
  ],
});

/** A sandbox, a store, and a gateway on it: runs are planned as by a worker, and decided over HTTP. */
export class PlannedScene {
  readonly world: PlanningWorld;
  readonly gateway: TestGateway;
  #runs = 0;

  constructor(world: PlanningWorld, gateway: TestGateway) {
    this.world = world;
    this.gateway = gateway;
  }

  async enter(bill: Json = {}): Promise<string> {
    const due = { dueDate: inDays(8), totalAmountCents: 50_000 };
    const entered = { contactId: "v1", status: "approved", ...due, ...bill };
    return (await this.world.sandbox.control.createPayable(entered)).id;
  }

  /** Plans a run of all bills; of some, or a part of one, off-cycle. Returns its id. */
  async plan(
    policy: PayRunPlaybook = REVIEWED,
    payableIds?: readonly string[],
    amountCents: number | null = null,
  ): Promise<string> {
    this.#runs += 1;
    const inputs = payableIds === undefined ? {} : offCycleInputs({ payableIds, amountCents });
    const runId = await this.world.launch(`run-${this.#runs}`, policy, inputs);
    await planOnce(this.world.context(), runId);
    await reviewRun(this.world.context(), runId);
    return runId;
  }

  async decide(runId: string, token: string, said: Json = {}): Promise<Answer> {
    const planHash = (await getRun(this.world.store.db, runId))?.planHash;
    const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
    const decision = { decision: "approve", planHash, ...said };
    const answer = await this.gateway.call("POST", path, token, decision);
    await reviewRun(this.world.context(), runId);
    return answer;
  }

  async cancel(runId: string): Promise<void> {
    const operator = await this.gateway.token("otto", ["operator"]);
    const path = `/v1/runs/${encodeURIComponent(runId)}/cancel`;
    await this.gateway.call("POST", path, operator, { reason: "another day" });
    await reviewRun(this.world.context(), runId);
  }

  async line(runId: string, payableId: string) {
    const [found] = await getPlanLines(this.world.store.db, runId, { payableIds: [payableId] });
    if (found === undefined) throw new Error(`${runId} has no line of ${payableId}`);
    return found;
  }

  async flag(
    runId: string,
    payableId: string,
    kind: LineFlag["kind"],
  ): Promise<LineFlag | undefined> {
    return (await this.line(runId, payableId)).plan.flags.find((flag) => flag.kind === kind);
  }
}

export const test = planningTest.extend("scene", async ({ planning }, { onCleanup }) => {
  const { folder, profile } = planning;
  const gateway = await startTestGateway({ folder, profiles: [profile] });
  onCleanup(() => gateway.stop());
  return new PlannedScene(planning, gateway);
});
