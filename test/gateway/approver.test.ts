import { describe, expect } from "vitest";
import type { RunReview } from "../../src/api/review.ts";
import type { DecisionView } from "../../src/api/schemas.ts";
import { atTerminal, hasTerminals } from "../cli/at-terminal.ts";
import { type CliResult, payrun } from "../cli/cli.ts";
import { keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { keepSeenPayments } from "../../src/store/payables/seen-payments.ts";
import { signedIn } from "../console/support/visits.ts";
import { gatewayOf, gatewayTest } from "./support/gateway-test.ts";
import { profile, type TestGateway } from "./support/gateway.ts";
import { typed } from "./support/typed.ts";
import { lineState, planLine, seedRun, setLine } from "./support/rows.ts";

/** What an approver types, tested with a gateway only: looking and deciding need no Temporal. */

const ODD = [{ kind: "unusual-amount", text: "$300.00 is more than 3 times the usual $90.00." }];

const weeklyTest = gatewayTest().extend("run", { auto: true }, ({ gateway }) =>
  seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [
      planLine("p1", { publicId: "BILL-000071", contactName: "Osprey Robotics" }),
      planLine("p2", {
        dueDate: "2029-11-23",
        executionDate: "2029-11-23",
        arrivalDate: "2029-11-26",
      }),
      planLine("p_odd", { quorum: 2, flags: ODD as never, amountCents: 30_000 }),
      planLine("p_large", { amountCents: 2_000_000, approvers: ["owner"], ruleIndex: 0 }),
    ],
  }),
);

const test = weeklyTest;

async function as(
  gateway: TestGateway,
  name: string,
  roles: readonly string[],
  args: string[],
): Promise<CliResult> {
  const PAYRUN_TOKEN = await gateway.token(name, roles);
  return payrun(args, { env: { PAYRUN_GATEWAY_URL: gateway.url, PAYRUN_TOKEN } });
}

test("show has what an approver needs to see, and what her approval covers", async ({
  gateway,
}) => {
  const { stdout, code } = await as(gateway, "cora", ["controller"], ["show", "weekly"]);
  expect(code).toBe(0);
  for (const words of [
    /Bill +Amount +Due +Pays on +Arrives +Waits for/,
    /Osprey Robotics BILL-000071 +\$100\.00 +2026-12-01 +2029-11-26 +2029-11-26 +the controller or owner/,
    /Worth a look \(1 bill\):/,
    /unusual-amount: \$300\.00 is more than 3 times the usual \$90\.00\./,
    /earlier payments to this vendor can't be read now/,
    /Late \(1 bill\), even if approved at once:/,
    /due 2029-11-23, arrives 2029-11-26: 3 days late/,
    /Left out \(1 bill\): 1 not due yet/,
    /4 bills, \$20,500\.00; 4 wait for approval, \$20,500\.00\./,
    /ecided? by Thursday, Nov 22, 11:59 PM New York/,
    /Your approval lets 2 bills, \$200\.00, go out and is one of 2 for 1 bill, \$300\.00;/,
  ]) {
    expect(stdout).toMatch(words);
  }
});

test("show is for everybody who may read, and --json has all of it in one document", async ({
  gateway,
  run,
}) => {
  const { json } = await as(gateway, "vera", ["viewer"], ["show", run.runId, "--json"]);
  const review = json<RunReview>();
  expect(review.bills.map(({ payableId }) => payableId)).toEqual(["p1", "p2", "p_odd", "p_large"]);
  expect(review.yours.goesOut.count).toBe(0);
});

test("status --bills lists every bill with its dates and whom it waits for", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p2", { state: "scheduled", paymentIds: ["pmt_1"] });
  const { stdout } = await as(gateway, "vera", ["viewer"], ["status", "weekly", "--bills"]);
  expect(stdout).toMatch(/Osprey Robotics BILL-000071 .* the controller or owner/);
  expect(stdout).toMatch(/BILL-p2 .* scheduled/);
});

test("off a terminal, approve needs --yes and says what goes out", async ({ gateway, run }) => {
  const without = await as(gateway, "cora", ["controller"], ["approve", "weekly"]);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain("add --yes");
  expect(await lineState(gateway.store, run.runId, "p1")).toBe("awaiting-approval");
  const { stdout, code } = await as(gateway, "cora", ["controller"], ["approve", "weekly", "-y"]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    "2 bills, $200.00, go out; 1 needs a second person (controller or owner), 1 needs the owner.",
  );
  const json = await as(gateway, "olga", ["owner"], ["approve", "weekly", "--yes", "--json"]);
  expect(json.json<DecisionView>()).toMatchObject({ goesOut: { count: 2, cents: 2_030_000 } });
});

test("a plan's hash may be given by the digits that status shows", async ({ gateway, run }) => {
  const named = run.planHash.slice(0, 12);
  const args = ["approve", "weekly", "--plan-hash", named, "--yes"];
  expect((await as(gateway, "cora", ["controller"], args)).code).toBe(0);
  const other = ["approve", "weekly", "--plan-hash", "0123456789ab", "--yes"];
  const stale = await as(gateway, "olga", ["owner"], other);
  expect(stale.stderr).toContain("the plan has changed");
});

test("times are shown in the profile's zone", async () => {
  const gateway = await gatewayOf({ profiles: [profile({ zone: "America/Los_Angeles" })] });
  await seedRun(gateway.store, { lines: [planLine("p1", { executionDate: "2031-11-24" })] });
  const { stdout } = await as(gateway, "vera", ["viewer"], ["status", "weekly"]);
  expect(stdout).toMatch(/Decide by Sunday, Nov 23, 8:59 PM Los Angeles, \d+ days .*left/);
});

test("reject needs no --yes, because stopping is safe", async ({ gateway }) => {
  const { code } = await as(
    gateway,
    "cora",
    ["controller"],
    ["reject", "weekly", "--reason", "wrong week"],
  );
  expect(code).toBe(0);
});

test("status and report say who rejected a run, and why", async ({ gateway }) => {
  await as(gateway, "cora", ["controller"], ["reject", "weekly", "--reason", "wrong week"]);
  const status = await as(gateway, "vera", ["viewer"], ["status", "weekly"]);
  expect(status.stdout).toMatch(/Rejected by cora, .* New York: wrong week/);
  const report = await as(gateway, "vera", ["viewer"], ["report", "weekly"]);
  expect(report.stdout).toMatch(/rejected by cora \(controller\), .* New York: wrong week/);
});

test("a cancelled run says who cancelled it and why, and what goes out anyway", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p1", { state: "scheduled" });
  const cancel = ["cancel", "weekly", "--reason", "billed twice"];
  const { stdout } = await as(gateway, "oli", ["operator"], cancel);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /1 bill, \$100\.00, is with the service already, and goes out: .*payrun stop --run weekly\/\S+ --cancel-scheduled calls it back/,
  );
  const { stdout: status } = await as(gateway, "vic", ["viewer"], ["status", "weekly"]);
  expect(status).toMatch(/Cancelled by oli, .* New York: billed twice/);
  const { stdout: shown } = await as(gateway, "vic", ["viewer"], ["show", "weekly", "--json"]);
  expect(JSON.parse(shown)).toMatchObject({ cancelled: { by: "oli", comment: "billed twice" } });
});

test("resolve needs --yes off a terminal", async ({ gateway }) => {
  const args = ["resolve", "p1", "--give-up", "--reason", "no"];
  const { code, stderr } = await as(gateway, "oli", ["operator"], args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("add --yes") });
});

test("resolve names the bill and its new state", async ({ gateway, run }) => {
  await setLine(gateway.store, run.runId, "p1", { state: "parked", reasonCode: "R02" });
  const args = ["resolve", "p1", "--give-up", "--reason", "credit note", "--yes"];
  const { stdout } = await as(gateway, "oli", ["operator"], args);
  expect(stdout).toContain("✓ Osprey Robotics BILL-000071, $100.00: given-up");
});

describe("a bill that is paid in part", () => {
  test.beforeEach(async ({ gateway, run }) => {
    const paymentIds = ["pay_1", "pay_2"];
    const parked = { state: "parked", reasonCode: "R16", paymentIds } as const;
    await setLine(gateway.store, run.runId, "p1", parked);
    await gateway.store.transaction((trx) =>
      keepSeenPayments(trx, "biz_acme", [
        { id: "pay_1", status: "failed", amountCents: 60_00, updatedAt: null },
        { id: "pay_2", status: "completed", amountCents: 40_00, updatedAt: null },
      ]),
    );
  });

  test("resolve names the open amount of a partly paid bill", async ({ gateway }) => {
    const args = ["resolve", "p1", "--give-up", "--reason", "credit note", "--yes"];
    const { stdout } = await as(gateway, "oli", ["operator"], args);
    expect(stdout).toContain("✓ Osprey Robotics BILL-000071, $60.00 of $100.00: given-up");
  });

  test("a hold on a partly paid bill names the open amount as on hold", async ({ gateway }) => {
    const { stdout } = await as(gateway, "oli", ["operator"], ["hold", "p1", "--reason", "odd"]);
    expect(stdout).toContain("1 bill, $60.00, on hold");
  });

  test.runIf(hasTerminals)(
    "resolve asks about the open amount of a partly paid bill",
    async ({ gateway }) => {
      const args = ["resolve", "p1", "--paid-elsewhere", "--reason", "by check"];
      const token = await gateway.token("oli", ["operator"]);
      const env = { PAYRUN_GATEWAY_URL: gateway.url, PAYRUN_TOKEN: token };
      const said = await atTerminal(args, [["BILL-000071, $60.00 of $100.00, as paid", "n"]], {
        env,
      });
      expect(said).toContain("Nothing was resolved");
    },
  );

  test("the console shows the open amount of a partly paid bill, also on its decision pages", async ({
    gateway,
  }) => {
    const oli = await signedIn(gateway, "oli", ["operator"]);
    expect((await oli.get("/")).text).toContain("1 bill of $60.00 waits for a decision");
    const asked = "/needs-action/resolve?bill=acme%2Fp1";
    for (const [page, said] of [
      ["/needs-action", "1 bill of $60.00 waits for a decision."],
      [asked, "1 bill of $60.00"],
      ["/bills/p1", "of $100.00"],
      ["/bills/p1/give-up?business=acme", "$60.00 of $100.00"],
    ] as const) {
      expect((await oli.get(page)).text, page).toContain(said);
    }
  });
});

test("resolve reports each bill, even if the person may not decide about one of them", async ({
  gateway,
  run,
}) => {
  const { store } = gateway;
  for (const payableId of ["p1", "p2"]) {
    await setLine(store, run.runId, payableId, { state: "parked", reasonCode: "R02" });
  }
  await keepRetryCase(store.db, {
    ...{ businessId: "biz_acme", payableId: "p1", sourceId: "balance" },
    ...{ waitsFor: null, failedAtMs: 1, failedRealMs: 1 },
    rule: {
      ...{ codes: ["R02"], words: [], action: "hold-vendor", pause: false, payAgain: true },
      ...{ when: null, atMost: 0, by: ["controller"] },
    },
    ...{ giveUpAfterDays: 30, giveUpNotify: [] },
  });
  const args = ["resolve", "p1", "p2", "--retry", "--reason", "new account", "--yes"];
  const { code, stdout } = await as(gateway, "oli", ["operator"], args);
  expect({ code, lines: stdout.trim().split("\n") }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^✗ .*BILL-000071: This needs one of the roles controller, admin/),
      expect.stringMatching(/^✗ .*BILL-p2: It has no valid approval/),
    ],
  });
});

test("status, report and explain say who left a bill out, and why", async ({ gateway }) => {
  const cora = await gateway.token("cora", ["controller"]);
  const type = (...args: string[]) => typed(gateway, cora, args);
  const drop = ["--drop", "BILL-000071", "--reason", "billed twice", "--yes"];
  const dropped = await type("approve", "weekly", ...drop);
  expect(dropped.code).toBe(0);
  expect(dropped.stdout).toMatch(
    /1 bill is left out of this run only\. .* flagged rejected-before; (npx )?payrun hold p1 --reason WHY puts it on hold\./,
  );
  const said = "Left out by cora: billed twice.";
  for (const command of ["status", "report"]) {
    expect((await type(command, "weekly")).stdout).toMatch(
      new RegExp(`Osprey Robotics BILL-000071 .* cancelled +${said}`),
    );
  }
  const { stdout } = await type("explain", "BILL-000071");
  expect(stdout).toMatch(/^Osprey Robotics BILL-000071 p1 {2}\$100\.00/);
  expect(stdout).toContain(`It was taken out of its run: ${said}`);
  expect(stdout).toContain("the next plan has it again, flagged rejected-before");
  expect(stdout).toContain("The service didn't answer: this is what Payrun knows by itself.");
});

describe("a vendor's changed bank account", () => {
  const CHANGED = [{ kind: "changed-bank-account", text: "It ends in 4417 now." }] as const;
  const CALLED = "Osprey Robotics=Ann Lee, accounts, +1 212 555 0100";

  const vendor = { contactId: "con_new", contactName: "Osprey Robotics", flags: CHANGED };
  const test = weeklyTest.extend("run", { auto: true }, ({ gateway }) =>
    seedRun(gateway.store, {
      ...{ launchedBy: "lou", author: "ada", period: "2026-11-27" },
      lines: [planLine("q1"), planLine("q2", vendor)],
    }),
  );

  test("approve takes the verification of a changed account as --verified, and the report shows it", async ({
    gateway,
    run,
  }) => {
    const args = ["approve", run.runId, "--yes"];
    const silent = await as(gateway, "cora", ["controller"], args);
    expect(silent.code).toBe(2);
    expect(silent.stderr).toContain("--verified");
    const other = await as(gateway, "cora", ["controller"], [...args, "--verified", "Acme=Ann, 1"]);
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain("these have: Osprey Robotics (con_new)");
    const done = await as(gateway, "cora", ["controller"], [...args, "--verified", CALLED]);
    expect(done.stdout).toContain("it counts for 2 bills");
    const report = await as(gateway, "vera", ["viewer"], ["report", run.runId]);
    expect(report.stdout).toContain(
      "new bank account of Osprey Robotics verified with Ann Lee, accounts, called on +1 212 555 0100",
    );
  });

  test.runIf(hasTerminals)(
    "approve asks on a terminal how a changed account was verified, and giving up decides nothing",
    async ({ gateway, run }) => {
      const token = await gateway.token("cora", ["controller"]);
      const env = { PAYRUN_GATEWAY_URL: gateway.url, PAYRUN_TOKEN: token };
      const gaveUp = await atTerminal(["approve", run.runId], [["Whom did you call", "\x03"]], {
        env,
      });
      expect(gaveUp).toContain("Nothing was decided.");
      expect(await lineState(gateway.store, run.runId, "q1")).toBe("awaiting-approval");
      const text = await atTerminal(
        ["approve", run.runId],
        [
          ["Whom did you call", "Ann Lee\r"],
          ["On which number", "+1 212 555 0100\r"],
          ["Approve this?", "y"],
        ],
        { env },
      );
      expect(text).toContain("It ends in 4417 now.");
      // The approval's effect is shown before the question.
      expect(text).toMatch(/Your approval lets 2 bills, \$200\.00, go out[^]*Approve this\?/);
      expect(text).toContain("it counts for 2 bills");
      const report = await as(gateway, "vera", ["viewer"], ["report", run.runId]);
      expect(report.stdout).toContain("verified with Ann Lee, called on +1 212 555 0100");
    },
  );
});
