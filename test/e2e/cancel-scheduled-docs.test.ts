import { describe, expect } from "vitest";
import type { CancellationStatus } from "../../src/api/cancellations.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { payrun as cli } from "../cli/cli.ts";
import { cancellation, hasEnded, scheduledBill } from "../support/cancellations.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { payrunTest } from "../support/payrun-test.ts";
import { expectBank, plannedScene } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const ROOT = new URL("../../", import.meta.url);

const test = payrunTest({ webhooks: false }).extend(
  "env",
  { scope: "file" },
  async ({ payrun }) => {
    const { token } = await createToken(payrun.store, {
      name: "reader",
      roles: ["admin"],
      createdBy: "setup",
      nowMs: Date.now() - 60_000,
    });
    return { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: token };
  },
);

/** True for commands of the page's second part. */
function isOfStop(command: string): boolean {
  return /payrun (?:stop|release --all)/.test(command);
}

describe("the commands of docs/cancel-scheduled.md and docs/hold.md", () => {
  test("the commands of docs/cancel-scheduled.md do what the page says", async ({
    env,
    payrun,
  }) => {
    const { bill, paymentId } = await scheduledBill(payrun, 150_00);
    const commands = commandsOf("docs/cancel-scheduled.md").filter((each) => !isOfStop(each));
    expect(commands).toHaveLength(3);
    let done: CancellationStatus | undefined;
    for (const command of commands) {
      const args = wordsOf(command).map((word) =>
        word
          .replace("PAYMENT_ID", paymentId)
          .replace("CANCELLATION_ID", done?.id ?? "CANCELLATION_ID")
          .replace("HOLD_ID", done?.payments[0]?.holdId ?? "HOLD_ID"),
      );
      const result = await cli([...args, "--json"], { env, cwd: new URL(".", ROOT).pathname });
      expect(result.code, `${command}: ${result.stderr}${result.stdout}`).toBe(0);
      if (args[0] === "cancel-scheduled") done = result.json<CancellationStatus>();
    }
    expect(done).toMatchObject({ phase: "completed", counts: { cancelled: 1 } });
    expect(done?.reason).toBe("Wrong amount");
    const now = await cancellation(payrun, done?.id ?? "");
    expect(hasEnded(now)).toBe(true);
    await payrun.sandbox.control.advance("P14D");
    await expectBank(payrun, [[bill, 0]]);
  });

  test("the page's stop holds everything, cancels what is scheduled, and is released again", async ({
    env,
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "stopped", [170_00]);
    // With a slow clock, the run shows the cancellation before the payment's day comes.
    const { scale } = await payrun.sandbox.control.clock();
    await payrun.sandbox.control.setScale(1);
    await approve(payrun, runId);
    await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
    const [stop = "", release = "", ...others] = commandsOf("docs/cancel-scheduled.md").filter(
      isOfStop,
    );
    expect(others).toEqual([]);
    const unasked = await cli(wordsOf(stop), { env });
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    const stopped = await cli([...wordsOf(stop), "--yes"], { env });
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stdout).toMatch(/stopped: everything/);
    expect(stopped.stdout).toMatch(/1 bill, \$170\.00, with the service, which can still cancel/);
    expect(stopped.stdout).toMatch(/\$170\.00 +cancelled/);
    const status = async () => (await cli(["status", runId], { env })).stdout;
    await expect.poll(status).toMatch(/^(?![^]*scheduled)[^]*cancelled +1 +\$170\.00/);
    await payrun.sandbox.control.setScale(scale);
    expect((await cli(["holds"], { env })).stdout).toContain("everything");
    const words = wordsOf(release).map((word) => word.replace("NAME", "reader"));
    const ended = await cli([...words, "--yes"], { env });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/released: everything/);
    expect((await cli(["holds"], { env })).stdout).not.toContain("everything");
    await payrun.sandbox.control.advance("P14D");
    await expectBank(
      payrun,
      made.map((bill) => [bill, 0]),
    );
  });

  test("the commands of docs/hold.md store a playbook that holds back", async ({ env }) => {
    const commands = commandsOf("docs/hold.md");
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) {
      const cwd = new URL(".", ROOT).pathname;
      const result = await cli([...wordsOf(command), "--json"], { env, cwd });
      expect(result.code, `${command}: ${result.stderr}${result.stdout}`).toBe(0);
    }
  });

  test("cancel-scheduled and watch say without --json where the money went", async ({
    env,
    payrun,
  }) => {
    const { paymentId } = await scheduledBill(payrun, 160_00);
    const asked = await cli(["cancel-scheduled", paymentId, "--wait"], { env });
    expect(asked.code, asked.stderr).toBe(0);
    expect(asked.stdout).toMatch(/cancelled .*No money moved/);
    const id = /cancel-scheduled-payments\/\S+/.exec(asked.stdout)?.[0] ?? "";
    const watched = await cli(["watch", id], { env });
    expect(watched.stdout).toMatch(/completed · 1 cancelled/);
    const unknown = await cli(["cancel-scheduled", "pay_of_nobody", "--wait"], { env });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("there is no payment “pay_of_nobody”");
  });
});
