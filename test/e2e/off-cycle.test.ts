import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { RunStatus } from "../../src/contracts/pay-run.ts";
import { bills } from "../support/bills.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { approve, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();
const PROGRAM = fileURLToPath(new URL("../../bin/payrun.mjs", import.meta.url));

/** Selects nothing by itself: the bills are due later. */
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

test("a part of a bill is paid off-cycle once, approved as that part; holds, limits and what is owed hold", async () => {
  const payrun = await start();
  const [bill, held, large] = await bills(payrun.sandbox, [100_00, 200_00, 300_00]);
  if (bill === undefined || held === undefined || large === undefined) return;
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
  expect((await payrun.call("operator", "POST", "/v1/holds", hold)).status).toBeLessThan(300);
  const others = await ask({ payables: [held.id, large.id, "no-such-bill"] });
  expect(others.status).toBe(201);
  await payrun.until(others.body.id, "planned", ({ plan }) => plan !== undefined);
  const path = `/v1/runs/${encodeURIComponent(others.body.id)}`;
  const { body } = await payrun.call<RunStatus>("launcher", "GET", path);
  expect(body.plan?.skippedByCode).toEqual({ "on-hold": 1, "unknown-bill": 1 });
  expect(body.payments.find(({ payableId }) => payableId === large.id)).toMatchObject({
    state: "parked",
    reasonCode: "over-bill-limit",
  });
  const tooMuch = await ask({ payables: [held.id], amountCents: 200_01 });
  await payrun.until(tooMuch.body.id, "planned", ({ plan }) => plan !== undefined);
  expect((await ask({ payables: [held.id, bill.id], amountCents: 1 })).status).toBe(422);

  const both = await asTheDocsSay(payrun, commands[1], held.id, large.id);
  expect(both.id).toContain("/weekly-vendors/");
  expect(both.id).not.toBe(others.body.id);

  await approve(payrun, runId);
  await payrun.killWorkers();
  await payrun.startWorker();
  const done = await untilEnded(payrun, runId);
  expect(done.counts).toEqual({ settled: 1 });
  const { actual, expected } = await paidOnce(payrun, new Map([[bill.id, 40_00]]));
  expect(actual).toEqual(expected);
});
