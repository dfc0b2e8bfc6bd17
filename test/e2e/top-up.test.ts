import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import type { TopUpStatus } from "../../src/api/deposits.ts";
import { payrun as cli } from "../cli/cli.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { isLong } from "../support/long.ts";
import { keepHistory } from "../support/keep-history.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { clockNoticed, ended, expectBank, plannedScene, type Scene } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

type Person = Parameters<TestPayrun["tokenOf"]>[0];

const test = payrunTest();
test.afterEach(async ({ payrun }) => {
  await payrun.recover();
});

const PAY =
  "{ on: next-business-day, from: balance, topUp: { by: [owner], atMost: $50k, arrivesAfter: 3 business days } }";

/** Creates a run of bills of $100 and $200; the balance covers only the first. */
async function shortScene(payrun: TestPayrun, name: string): Promise<Scene> {
  await payrun.sandbox.control.changeBusiness({ balanceCents: 150_00 });
  return plannedScene(payrun, name, [100_00, 200_00], { pay: PAY });
}

/** The person who types each command of the page. */
const PEOPLE: Readonly<Record<string, Person>> = { apply: "admin", plan: "launcher" };

async function lastTopUp(payrun: TestPayrun, runId: string): Promise<TopUpStatus | undefined> {
  return (await payrun.status(runId)).topUps?.at(-1);
}

/** Advances the bank's clock by days until the run's newest deposit is in this state. */
async function untilTopUp(payrun: TestPayrun, runId: string, state: string): Promise<TopUpStatus> {
  // A run looks for money at least every two minutes.
  const untilMs = Date.now() + 200_000;
  for (let days = 0; Date.now() < untilMs;) {
    const topUp = await lastTopUp(payrun, runId);
    if (topUp?.state === state) return topUp;
    if (topUp?.state === "on-its-way" && days < 12) {
      await payrun.sandbox.control.advance("P1D");
      days += 1;
    }
    await clockNoticed();
    await clockNoticed();
  }
  const { phase, waitingFor, payments, topUps } = await payrun.status(runId);
  const seen = JSON.stringify({ phase, waitingFor, payments, topUps }, null, 1);
  throw new Error(`the deposit is not ${state}: ${seen}\n${await payrun.logs()}`);
}

async function deposits(payrun: TestPayrun): Promise<string[]> {
  const ledger = await payrun.sandbox.control.ledger();
  return ledger
    .filter(({ paymentId, payableId }) => paymentId === null && payableId === null)
    .map(({ kind, amountCents }) => `${kind} ${amountCents}`);
}

function decideTopUp(payrun: TestPayrun, person: Person, runId: string, hash: string | undefined) {
  return payrun.decide(person, runId, "approve", { topUpHash: hash });
}

describe("a run that is short of money", () => {
  test("a run short of money pays what is covered, and the rest with an approved deposit", async ({
    payrun,
  }) => {
    const { runId, made } = await shortScene(payrun, "short");
    const env = (person: Person) => ({
      PAYRUN_GATEWAY_URL: payrun.gatewayUrl,
      PAYRUN_TOKEN: payrun.tokenOf(person),
    });
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    const commands = commandsOf("docs/top-up.md");
    expect(commands).toHaveLength(6);
    const printed: string[] = [];
    for (const command of commands) {
      const args = wordsOf(command).map((word) =>
        word.replace("$RUN", runId).replace(/^paid-from-balance$/, "short"),
      );
      const person = PEOPLE[args[0] ?? ""] ?? (args.includes("--top-up") ? "owner" : "controller");
      const { code, stdout, stderr } = await cli(args, { cwd, env: env(person) });
      expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({
        command,
        code: 0,
        stderr: "",
      });
      printed.push(stdout);
      if (args[0] === "plan") expect(stdout).toMatch(/Proposes a deposit of \$/);
    }
    expect(printed.join("\n")).toMatch(/approved the deposit of \$150\.00/);
    expect(printed.at(-1)).toMatch(/Deposit of \$150\.00 from .*: (proposed|sending|on-its-way)/);

    await untilTopUp(payrun, runId, "on-its-way");
    await payrun.until(
      runId,
      "half paid",
      ({ counts, waitingFor }) =>
        counts.scheduled === 1 && /a deposit of \$150\.00 .* on its way/.test(waitingFor ?? ""),
    );
    await untilTopUp(payrun, runId, "completed");
    const done = await ended(payrun, runId);
    expect(done.counts.settled).toBe(2);
    expect(done.topUps).toHaveLength(1);
    expect(await deposits(payrun)).toEqual(["debit 15000", "credit 15000"]);
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
    await keepHistory(payrun, runId, "pay-run-tops-up");
    const report = await payrun.call(
      "owner",
      "GET",
      `/v1/runs/${encodeURIComponent(runId)}/report`,
    );
    expect(report.body).toMatchObject({ topUps: [{ state: "completed", amountCents: 150_00 }] });
  });

  test.runIf(isLong)(
    "a deposit whose worker dies after the effect is made once, and asked for again if it bounces",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const before = await deposits(payrun);
      const { runId, made } = await shortScene(payrun, "killed");
      await approve(payrun, runId);
      // A bill in doubt would keep the next deposit from being asked for until it is found out.
      await payrun.until(runId, "half paid", ({ counts }) => counts.scheduled === 1);
      const asked = await lastTopUp(payrun, runId);
      expect((await decideTopUp(payrun, "controller", runId, asked?.hash)).status).toBe(403);
      await control.outcome({
        match: { bankAccountId: asked?.account.bankAccountId ?? "" },
        outcome: "fail",
        code: "R01",
        times: 1,
      });
      const path = "/v1/balance/deposits";
      await control.faults([
        { method: "POST", path, when: "after", effect: "delay", delayMs: 20_000, times: 1 },
      ]);
      expect((await decideTopUp(payrun, "owner", runId, asked?.hash)).status).toBe(200);
      const isMade = async (): Promise<number> => {
        const { body } = await payrun.sandbox.api<{ totalCount: number }>(
          "GET",
          "/v1/balance/transactions?status=pending",
        );
        return body.totalCount;
      };
      await expect.poll(isMade).toBe(1);
      await payrun.killWorkers("SIGKILL");
      await control.faults();
      await payrun.startWorker();
      const first = await untilTopUp(payrun, runId, "on-its-way");
      expect(first.id).toBe(asked?.id);
      const again = await untilTopUp(payrun, runId, "proposed");
      const status = await payrun.status(runId);
      expect(status.topUps).toMatchObject([
        { state: "failed", reason: expect.stringMatching(/R01/) },
        { state: "proposed" },
      ]);
      expect((await decideTopUp(payrun, "owner", runId, again.hash)).status).toBe(200);
      await untilTopUp(payrun, runId, "completed");
      const done = await ended(payrun, runId);
      expect(done.counts.settled).toBe(2);
      expect((await deposits(payrun)).slice(before.length)).toEqual([
        "debit 15000",
        "return 15000",
        "debit 15000",
        "credit 15000",
      ]);
      await expectBank(
        payrun,
        made.map((bill) => [bill, bill.amountCents]),
      );
    },
    600_000,
  );
});
