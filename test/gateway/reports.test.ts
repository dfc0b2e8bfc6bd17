import { afterAll, beforeAll, expect, test } from "vitest";
import type { PeriodReport } from "../../src/api/period-report.ts";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { typed as typedBy } from "./support/typed.ts";

interface ServicePayment {
  readonly id: string;
  readonly payableId: string;
  readonly amountCents: number;
  readonly scheduledAt: string;
}

let sandbox: TestSandbox;
let gateway: TestGateway;
let viewer: string;
let paid: ServicePayment;
let day: string;

beforeAll(async () => {
  sandbox = await startSandbox({ fixture: "sample" });
  const { businessId, token } = sandbox.business;
  const { body } = await sandbox.api<{ items: ServicePayment[] }>(
    "GET",
    "/v1/payments?status=completed",
  );
  const [first] = body.items;
  if (first === undefined) throw new Error("the sample has no payment");
  paid = first;
  day = paid.scheduledAt.slice(0, 10);
  const service = { apiUrl: sandbox.url, sandbox: true } as const;
  gateway = await startTestGateway({
    profiles: [
      profile({ businessId, ...service, token: { kind: "value", value: token } }),
      profile({ name: "beta", businessId: "biz_beta", ...service }),
    ],
  });
  viewer = await gateway.token("vic", ["viewer"]);
  const { payableId, amountCents } = paid;
  const { runId } = await seedRun(gateway.store, {
    businessId,
    lines: [planLine(payableId, { contactId: "con_1", contactName: "Osprey", amountCents })],
  });
  await setLine(gateway.store, runId, payableId, { state: "settled", paymentIds: [paid.id] });
});
afterAll(async () => {
  await gateway.stop();
  await sandbox.stop();
});

const typed = (...args: readonly string[]) => typedBy(gateway, viewer, ["report", ...args]);

test("report --from --to shows the sums of some days by vendor, account and day", async () => {
  const { code, stdout } = await typed("--from", day, "--to", day, "--business", "acme");
  const dollars = `$${(paid.amountCents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
  expect(code).toBe(0);
  expect(stdout).toContain(`acme  ${day} to ${day}`);
  expect(stdout).toContain(`1 payment, ${dollars}; came back: $0.00; net ${dollars}`);
  expect(stdout).toMatch(/Vendor +Bills +Out +Back or in +Net\nOsprey +1 +\$/);
  expect(stdout).toMatch(new RegExp(`\n${day} +`));
});

test("a period report's JSON document and its table have the same sums", async () => {
  const days = ["--from", day, "--to", day, "--business", "acme"];
  const report = (await typed(...days, "--json")).json<PeriodReport>();
  expect(report).toMatchObject({
    ...{ business: "acme", from: day, to: day },
    payments: { debits: 1, debitCents: paid.amountCents, netCents: -paid.amountCents },
    vendors: [{ contactId: "con_1", vendor: "Osprey", settledCents: paid.amountCents }],
  });
  const [head = "", row = "", ...more] = (await typed(...days, "--csv")).stdout
    .trim()
    .split("\r\n");
  expect(head).toBe(
    "date,account,source,kind,vendor_id,vendor,debits,debit_usd,credits,credit_usd,net_usd",
  );
  expect(row.split(",").at(-1)).toBe(`-${(paid.amountCents / 100).toFixed(2)}`);
  expect(more).toEqual([]);
  const plain = (await typed(...days, "--csv")).stdout;
  expect((await typed(...days, "--excel")).stdout).toBe(`\uFEFF${plain}`);
  expect((await typed(...days, "--excel", "--json")).code).toBe(2);
});

test.each([
  [["--from", "2026-11-30", "--to", "2026-11-01", "--business", "acme"], "ends before it begins"],
  [["--from", "soon", "--to", "2026-11-01", "--business", "acme"], "must be a date, YYYY-MM-DD"],
  [["--from", "2026-11-01", "--to", "2026-11-30"], "--business on the command line"],
  [["--from", "2026-11-01", "--to", "2026-11-30", "--business", "gamma"], "No business is called"],
])("report %j exits 2 and says what to do", async (args, words) => {
  const { code, stderr } = await typed(...args);
  expect(stderr).toContain(words);
  expect(code).toBe(2);
});

test("if the service doesn't answer, the period report says so and shows no sums", async () => {
  const { code, stdout, stderr } = await typedBy(gateway, viewer, [
    ...["report", "--from", day, "--to", day, "--business", "beta"],
  ]);
  expect(stderr).toContain("The payments can't be read");
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
});
