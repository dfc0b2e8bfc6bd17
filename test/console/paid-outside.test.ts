import { expect, onTestFinished, test } from "vitest";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { serviceWithPayments } from "../gateway/support/funding-service.ts";
import { typed } from "../gateway/support/typed.ts";
import { signedIn } from "./support/visits.ts";
import { seedWeekly } from "./support/weekly-run.ts";

const PAYMENT = {
  ...{ id: "pmt_theirs", status: "scheduled", amountCents: 10_000, payableId: "pbl_0101" },
  ...{ contactId: "con_1", bankAccountId: null, paymentRail: "SERVICE" },
};

/** Starts a gateway whose service has a payment of each bill that Payrun has not made. */
async function withOthersPayment(): Promise<TestGateway> {
  const apiUrl = await serviceWithPayments([PAYMENT]);
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => gateway.stop());
  await seedWeekly(gateway.store);
  return gateway;
}

test("a bill's page lists its external payments", async () => {
  const olga = await signedIn(await withOthersPayment(), "olga", ["operator"]);
  const { text } = await olga.get("/bills/pbl_0101?business=acme");
  expect(text).toContain("Payrun has made no payment of it. Not made by Payrun");
  expect(text).toContain("pmt_theirs scheduled $100.00");
});

test("a hold on a bill with an external payment names the command that cancels it", async () => {
  const gateway = await withOthersPayment();
  const token = await gateway.token("olga", ["operator"]);
  const { stdout } = await typed(gateway, token, ["hold", "pbl_0101", "--reason", "odd"]);
  const said = stdout.replaceAll(/\s+/g, " ");
  expect(said).toContain("no bill on hold 1 bill, $100.00, with the service, which can still");
  expect(said).toContain("payrun cancel-scheduled BILL-000101 --reason … takes it back");
});

test("a hold on a bill with an external payment says that it doesn't stop that payment", async () => {
  const olga = await signedIn(await withOthersPayment(), "olga", ["operator"]);
  const path = "/bills/pbl_0101/hold?business=acme";
  const done = await olga.send(await olga.get(path), path, { reason: "odd" });
  expect(done.text).toContain("The hold doesn’t stop what was sent");
  expect(done.text).toContain(
    "Outside Payrun it has payment pmt_theirs of $100.00, on its way. That goes on.",
  );
});
