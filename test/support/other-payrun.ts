import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { PAY_ALL } from "./bills.ts";
import type { OtherPayable } from "./other-service/book.ts";
import type { OtherServiceOptions } from "./other-service/options.ts";
import { type OtherService, startOtherService } from "./other-service.ts";
import { TestPayrun } from "./payrun.ts";
import { TestSandbox } from "./sandbox.ts";

/** The whole of Payrun as separate processes, on a service that is not the sandbox. */
export class OtherPayrun extends TestPayrun {
  readonly service: OtherService;

  constructor(home: string, service: OtherService) {
    // Only holds the address and the token; no sandbox is ever started.
    const sandbox = new TestSandbox(home, false, "blank");
    sandbox.url = service.url;
    sandbox.businesses = [
      { businessId: service.businessId, token: service.token, webhookEndpoints: [] },
    ];
    super(home, sandbox);
    this.service = service;
  }

  override env(): Record<string, string> {
    return {
      ...super.env(),
      PAYMENTS_WEBHOOK_SECRETS: this.service.webhookSecret,
      PAYMENTS_API_SANDBOX: "false",
    };
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.service.stop();
  }

  /** Returns a run with these bills, planned and approved; its money may move from here on. */
  async approvedRun(
    amounts: readonly number[],
  ): Promise<{ readonly runId: string; readonly made: OtherPayable[] }> {
    const made = this.service.bills(amounts);
    await this.apply("weekly", PAY_ALL);
    const runId = await this.launch("weekly");
    await this.untilPhase(runId, "awaiting-approval");
    const { status, body } = await this.decide("controller", runId, "approve");
    if (status !== 200) throw new Error(`approve: ${status} ${JSON.stringify(body)}`);
    return { runId, made };
  }

  /** Decides about a parked or failed bill as the operator. */
  async resolve(payableId: string, action: "retry" | "paid-elsewhere" | "give-up"): Promise<void> {
    const path = `/v1/payables/${encodeURIComponent(payableId)}/resolution`;
    const resolution = { action, reason: "asked for by the test" };
    const { status, body } = await this.call("operator", "POST", path, resolution);
    if (status >= 300) throw new Error(`resolve: ${status} ${JSON.stringify(body)}`);
  }

  /** Waits until all lines are in one of these states. */
  untilAll(
    runId: string,
    states: readonly RunStatus["payments"][number]["state"][],
    timeoutMs?: number,
  ): Promise<RunStatus> {
    const there = (status: RunStatus): boolean =>
      status.payments.every(({ state }) => states.includes(state));
    return this.until(runId, `all ${states.join(" or ")}`, there, timeoutMs);
  }
}

/**
 * Returns a function that starts stacks on other services. They end with the test, even if it
 * fails.
 */
export function otherStacks(): (options?: Partial<OtherServiceOptions>) => Promise<OtherPayrun> {
  const open: OtherPayrun[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((payrun) => payrun.stop()));
  });
  return async (options = {}) => {
    const service = await startOtherService(options);
    const home = await mkdtemp(join(tmpdir(), "payrun-other-"));
    const payrun = new OtherPayrun(home, service);
    open.push(payrun);
    await payrun.start({ webhooks: false });
    service.webhookUrl = `${payrun.gatewayUrl}/webhooks/default`;
    return payrun;
  };
}

/** Returns what each bill's payee should have: its whole amount, once. */
export function eachOnce(made: readonly OtherPayable[]): Map<string, number> {
  return new Map(made.map(({ id, totalAmountCents }) => [id, totalAmountCents]));
}
