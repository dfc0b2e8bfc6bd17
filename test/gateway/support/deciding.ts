import { test as base } from "vitest";
import { decisionsOfRun } from "../../../src/store/approvals/decisions.ts";
import { startTestGateway, type Answer, type TestGateway } from "./gateway.ts";
import { isApproved, planLine, seedRun, type SeededRun } from "./rows.ts";

const LARGE = { amountCents: 2_000_000, approvers: ["owner"], ruleIndex: 0 };
const TWO_EYES = { quorum: 2 };

/** A gateway, and a run that people decide about. */
class DecidingScene {
  readonly gateway: TestGateway;
  run: SeededRun;

  constructor(gateway: TestGateway, run: SeededRun) {
    this.gateway = gateway;
    this.run = run;
  }

  path(what = "decisions"): string {
    return `/v1/runs/${encodeURIComponent(this.run.runId)}/${what}`;
  }

  /** Approves the run's plan, unless `changes` say otherwise. */
  decide(token: string, changes: Record<string, unknown> = {}): Promise<Answer> {
    const body = { decision: "approve", planHash: this.run.planHash, ...changes };
    return this.gateway.call("POST", this.path(), token, body);
  }

  approved(payableId: string): Promise<boolean> {
    return isApproved(this.gateway.store, this.run.runId, payableId);
  }

  /** Returns who has decided, and each decision's outcome. */
  async outcomes(): Promise<string[]> {
    const decisions = await decisionsOfRun(this.gateway.store.db, this.run.runId);
    return decisions.map((decision) => `${decision.principal} ${decision.outcome}`);
  }
}

export const test = base.extend("scene", async ({ onTestFinished }) => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.stop());
  const run = await seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [
      planLine("p1"),
      planLine("p2"),
      planLine("p_large", LARGE),
      planLine("p_odd", TWO_EYES),
    ],
  });
  return new DecidingScene(gateway, run);
});
