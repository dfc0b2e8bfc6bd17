import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServicePayments } from "../../src/api/service-payments.ts";
import { keepNames } from "../../src/store/names/names.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { typed as typedBy } from "./support/typed.ts";

let sandbox: TestSandbox;
let gateway: TestGateway;
let viewer: string;

beforeAll(async () => {
  sandbox = await startSandbox({ fixture: "sample" });
  const { businessId, token } = sandbox.business;
  const service = { apiUrl: sandbox.url, sandbox: true } as const;
  gateway = await startTestGateway({
    profiles: [profile({ businessId, ...service, token: { kind: "value", value: token } })],
  });
  viewer = await gateway.token("vic", ["viewer"]);
});
afterAll(async () => {
  await gateway.stop();
  await sandbox.stop();
});

const typed = (...args: readonly string[]) => typedBy(gateway, viewer, ["payments", ...args]);

test("payments --since lists every payment of the service once, with the store's record of each", async () => {
  const { totalCount } = (await sandbox.api<{ totalCount: number }>("GET", "/v1/payments")).body;
  expect(totalCount).toBeGreaterThan(0);
  const [known] = (await sandbox.api<{ items: { payableId: string }[] }>("GET", "/v1/payments"))
    .body.items;
  await gateway.store.transaction((trx) =>
    keepNames(trx, sandbox.business.businessId, [
      {
        ...{ kind: "bill", id: known?.payableId ?? "", number: "BILL-7", name: "Wolf & Sons" },
        ...{ contactId: null, amountCents: null },
      },
    ]),
  );
  const { code, stdout } = await typed("--since", "2000-01-01");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(
      `^${totalCount} payments? since .*; on record here: 0; not on record: ${totalCount}, \\$`,
    ),
  );
  expect(stdout).toMatch(
    /\nWolf & Sons BILL-7 +2\d{3}-\d\d-\d\d \S+ +\$[\d,.]+ +\w+ +not on record: made by someone else +pay_\w+\n/,
  );
  const { businessId } = sandbox.business;
  const serviceMs = Date.now() + 86_400_000;
  const loss = { businessId, evidence: "a test", hadItAtMs: 1, serviceMs, businessMs: null };
  await gateway.store.transaction((trx) => holdForLoss(trx, loss));
  const restored = await typed("--since", "2000-01-01", "--unknown");
  expect(restored.stdout).toContain("not on record: made after the backup, or by someone else");
  const { items } = (await typed("--since", "2000-01-01", "--json")).json<ServicePayments>();
  expect(new Set(items.map(({ id }) => id)).size).toBe(totalCount);
  expect(items).toContainEqual(expect.objectContaining({ onRecord: false, mayBeOurs: true }));
});

test("an invalid time is refused as a mistake in the command", async () => {
  const { code, stderr } = await typed("--since", "yesterday");
  expect(code).toBe(2);
  expect(stderr).toMatch(/since.*YYYY-MM-DD/);
  expect((await typed()).code).toBe(2);
});

test("if the service can't be reached, the command says so and does not refer to the gateway's log", async () => {
  const apiUrl = "http://127.0.0.1:9";
  const alone = await startTestGateway({ profiles: [profile({ apiUrl, sandbox: true })] });
  try {
    const vic = await alone.token("vic", ["viewer"]);
    const { code, stderr } = await typedBy(alone, vic, ["payments", "--since", "2026-11-01"]);
    expect(stderr).toMatch(/^error: The Payments Service can't be reached: .*\.\n/);
    expect(code).toBe(4);
  } finally {
    await alone.stop();
  }
});
