import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { DecisionBody } from "../../src/api/schemas.ts";
import { profile, startTestGateway } from "./support/gateway.ts";
import { planLine, seedRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

/** Address of a service whose vendors are as they were planned, but for the named ones. */
async function serviceWith(
  others: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<string> {
  const service = createServer(({ url = "" }, response) => {
    const id = url.split("/").at(-1) ?? "";
    const planned = { bankAccount: { last4: "6789" }, paymentReady: true, updatedAt: null };
    const contact = { id, type: "payee", status: "active", ...planned, ...others[id] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(contact));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
}

test("an approval doesn't say that bills go out whose vendor's bank account was removed or changed meanwhile", async () => {
  const apiUrl = await serviceWith({
    con_p1: { displayName: "Osprey Robotics", bankAccount: null, paymentReady: false },
    con_p2: { bankAccount: { last4: "4417" } },
  });
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => gateway.stop());
  await seedRun(gateway.store, { lines: [planLine("p1"), planLine("p2"), planLine("p3")] });
  const token = await gateway.token("cora", ["controller"]);
  const { stdout } = await typed(gateway, token, ["approve", "weekly", "--yes"]);
  expect(stdout).toContain("1 bill, $100.00, goes out.");
  expect(stdout).toMatch(
    /1 bill, \$100\.00, doesn't go out\. Osprey Robotics can't be paid by ACH/,
  );
  expect(stdout).toMatch(
    /\. Vendor of p2: .* changed from ••6789 to ••4417 since the plan was made/,
  );
  const again = await typed(gateway, token, ["approve", "weekly", "--yes", "--json"]);
  expect(DecisionBody.parse(again.json())).toMatchObject({
    goesOut: { count: 1 },
    notSent: [
      { contactId: "con_p1", count: 1 },
      { contactId: "con_p2", count: 1 },
    ],
  });
});
