import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { serviceWithPayments } from "../gateway/support/funding-service.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";

interface Beside extends TestGateway {
  readonly oli: string;
}

/** A sound business, with a service that knows every bill, beside a neighbour's service. */
async function beside(neighbourUrl: string, work: (gateway: Beside) => Promise<void>) {
  const evil = { name: "evil", businessId: "biz_evil", apiUrl: neighbourUrl };
  const apiUrl = await serviceWithPayments([]);
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl }), profile(evil)] });
  try {
    await work({ ...gateway, oli: await gateway.token("oli", ["operator"]) });
  } finally {
    await gateway.stop();
  }
}

/** The same beside a service that answers nothing. */
async function besideSilence(work: (gateway: Beside) => Promise<void>): Promise<void> {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  await beside(`http://127.0.0.1:${port}`, async (gateway) => {
    try {
      await work(gateway);
    } finally {
      silent.close();
      silent.closeAllConnections();
    }
  });
}

const reason = "Disputed.";

async function holdsWhatRunsKnow(gateway: Beside): Promise<void> {
  await seedRun(gateway.store, { lines: [planLine("p1", { contactId: "con_1" })] });
  for (const thing of [{ payableId: "p1" }, { contactId: "con_1" }]) {
    const held = await gateway.call("POST", "/v1/holds", gateway.oli, { ...thing, reason });
    expect(held).toMatchObject({ status: 201, json: { business: "acme" } });
  }
}

test("a neighbour whose service claims every id, or never answers, keeps nobody from holding what runs of another business know", async () => {
  await beside(await serviceWithPayments([]), holdsWhatRunsKnow);
  await besideSilence(holdsWhatRunsKnow);
});

test("a bill that no run knows and whose id a neighbour claims too is held once its business is named, as the refusal says", async () => {
  await beside(await serviceWithPayments([]), async (gateway) => {
    const p1 = { payableId: "p1", reason };
    const either = await gateway.call("POST", "/v1/holds", gateway.oli, p1);
    expect(either).toMatchObject({ status: 422, json: { error: "business_ambiguous" } });
    expect(either.json["message"]).toContain("(acme, evil): say which one (“business”)");
    const held = await gateway.call("POST", "/v1/holds", gateway.oli, { ...p1, business: "acme" });
    expect(held).toMatchObject({ status: 201, json: { business: "acme" } });
  });
});

test("a search for an id that one service has doesn't wait for one that never answers, and names it", async () => {
  await besideSilence(async (gateway) => {
    const { json } = await gateway.call("GET", "/v1/search?q=p1&kind=bill", gateway.oli);
    expect(json).toMatchObject({
      exact: [{ id: "p1", business: "acme" }],
      unread: [{ business: "evil", message: expect.stringContaining("another business's") }],
    });
  });
});
