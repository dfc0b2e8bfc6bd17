import { expect, test } from "vitest";
import type { Clients } from "../../src/business/clients.ts";
import { businessCheck } from "../../src/cli/commands/doctor-businesses.ts";
import { skewOf } from "../../src/reports/conditions.ts";
import { profile } from "../gateway/support/gateway.ts";

test("a clock that is off by more than ten seconds is reported with the difference", () => {
  expect(skewOf("The database", 9_000)).toBeUndefined();
  expect(skewOf("The database", -9_000)).toBeUndefined();
  expect(skewOf("The database", -240_000)).toMatchObject({
    text: "The database's clock is 240 s behind this machine's",
  });
  expect(skewOf("The service", 11_000)?.text).toContain("11 s ahead of");
});

test("payrun doctor reports a service whose clock differs, unless it is a sandbox", async () => {
  const sources = [{ canPay: true }];
  const of = () => ({ fundingSources: { list: () => Promise.resolve(sources) } });
  const check = (aheadMs: number, sandbox = false) =>
    businessCheck(
      { of } as unknown as Clients,
      profile({ sandbox, webhookSecrets: ["whsec_1"] }),
      new Map([["acme", aheadMs]]),
    );
  expect(await check(60_000)).toMatchObject({
    ...{ name: "Business acme", state: "warning" },
    text: "The service's clock is 60 s ahead of this machine's",
    remedy: expect.stringContaining("NTP"),
  });
  expect(await check(0)).toMatchObject({ state: "ok" });
  expect(await check(60_000, true)).toMatchObject({ state: "ok" });
});
