import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { payrun as cli } from "../cli/cli.ts";
import { isLong } from "../support/long.ts";
import { bills } from "../support/bills.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { approve, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();
const PROGRAM = fileURLToPath(new URL("../../bin/payrun.mjs", import.meta.url));

/** Selects nothing by itself, since the bills are due later. */
const POLICY = `kind: pay-run
select: { due: within 1 day }
pay: { on: next-business-day }
limits: { bill: $250 }
review: []
approve: [{ by: [controller] }]
`;

/** Runs a command of the page for these bills. */
async function asTheDocsSay(
  payrun: TestPayrun,
  command: string | undefined,
  payable: string,
  other = "",
): Promise<RunStatus> {
  const words = wordsOf(command ?? "").map((word) =>
    word.replace("$PAYABLE", payable).replace("$OTHER", other),
  );
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...words, "--json"], {
    env: {
      ...payrun.env(),
      PAYRUN_GATEWAY_URL: payrun.gatewayUrl,
      PAYRUN_TOKEN: payrun.tokenOf("launcher"),
    },
  });
  return JSON.parse(stdout) as RunStatus;
}

test.runIf(isLong)(
  "a part of a bill is paid off-cycle once, approved as that part, within holds, limits and what is owed",
  async () => {
    const payrun = await start();
    const made = await bills(payrun.sandbox, [100_00, 200_00, 300_00, 50_00]);
    const [bill, held, large, twice] = made;
    if (!bill || !held || !large || !twice) throw new Error("no bills");
    await payrun.apply("weekly-vendors", POLICY);
    const commands = commandsOf("docs/off-cycle.md");
    expect(commands).toHaveLength(2);
    const ask = (body: object): ReturnType<typeof payrun.call<RunStatus>> =>
      payrun.call<RunStatus>("launcher", "POST", "/v1/off-cycle", body);

    const { id: runId } = await asTheDocsSay(payrun, commands[0], bill.id);
    const planned = await payrun.untilPhase(runId, "awaiting-approval");
    expect(planned.payments).toMatchObject([{ payableId: bill.id, amountCents: 40_00 }]);
    expect(planned.payments[0]?.flags.map(({ kind }) => kind)).toContain("partial");
    const again = await ask({ payables: [bill.id], amountCents: 40_00 });
    expect([again.status, again.body.id]).toEqual([200, runId]);
    expect((await payrun.decide("launcher", runId, "approve")).status).toBe(403);

    const hold = { payableId: held.id, reason: "disputed" };
    const onHold = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", hold);
    expect(onHold.status).toBe(201);
    const others = await ask({ payables: [held.id, large.id, "no-such-bill"] });
    expect(others.status).toBe(201);
    await payrun.until(others.body.id, "planned", ({ plan }) => plan !== undefined);
    const path = `/v1/runs/${encodeURIComponent(others.body.id)}`;
    const { body } = await payrun.call<RunStatus>("launcher", "GET", path);
    expect(body.plan?.skippedByCode).toEqual({ on_hold: 1, unknown_bill: 1 });
    expect(body.payments.find(({ payableId }) => payableId === large.id)).toMatchObject({
      state: "parked",
      reasonCode: "over_bill_limit",
    });
    const tooMuch = await ask({ payables: [held.id], amountCents: 200_01 });
    await payrun.until(tooMuch.body.id, "planned", ({ plan }) => plan !== undefined);
    expect((await ask({ payables: [held.id, bill.id], amountCents: 1 })).status).toBe(422);

    const both = await asTheDocsSay(payrun, commands[1], held.id, large.id);
    expect(both.id).toContain("/weekly-vendors/");
    expect(both.id).not.toBe(others.body.id);

    const env = { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: payrun.tokenOf("launcher") };
    const pay = (...words: string[]) => cli(["pay", ...words], { env });
    // Asking for a bill that can't be paid shows why; it may be asked for again afterwards.
    const refused = await pay(held.id);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/On hold: disputed/) });
    expect(refused.stdout).toMatch(/Nothing is paid/);
    await payrun.call("operator", "DELETE", `/v1/holds/${onHold.body.id}`);
    const released = await pay(held.id, "--json");
    expect(released.code, released.stderr).toBe(0);
    const { id: second } = released.json<RunStatus>();
    expect(second).toMatch(/\/r2$/);
    expect((await pay(held.id)).stdout).toMatch(/awaiting-approval[^]*already asked for today/);
    const owned = await pay(bill.id);
    expect(owned).toMatchObject({ code: 1, stdout: expect.stringContaining(runId) });
    expect((await pay(bill.id, "--amount", "1.005")).stderr).toMatch(/to the cent/);

    // The same bill at the same moment, whole, whole and in part: only one run gets it.
    const asked = await Promise.all([
      ask({ payables: [twice.id] }),
      ask({ payables: [twice.id] }),
      ask({ payables: [twice.id], amountCents: 10_00 }),
    ]);
    const runs = [...new Set(asked.map(({ body: { id } }) => id))];
    expect(runs).toHaveLength(2);
    const phases = await Promise.all(
      runs.map((id) => payrun.until(id, "planned", ({ phase }) => phase !== "planning")),
    );
    const [owner, ...more] = phases.filter(({ phase }) => phase === "awaiting-approval");
    expect(more).toEqual([]);

    const approved = [runId, second, owner?.id ?? ""];
    for (const id of approved) await approve(payrun, id);
    await payrun.killWorkers();
    await payrun.startWorker();
    // Before the days pass in seconds, because an approval lasts no longer than a month.
    for (const id of approved) {
      await payrun.until(id, "sent", ({ counts }) => counts.scheduled === 1);
    }
    for (const id of approved) {
      expect((await untilEnded(payrun, id)).counts).toEqual({ settled: 1 });
    }
    const net = new Map([
      [bill.id, 40_00],
      [held.id, 200_00],
      [twice.id, owner?.totalCents ?? 0],
    ]);
    const { actual, expected } = await paidOnce(payrun, net);
    expect(actual).toEqual(expected);
  },
);
