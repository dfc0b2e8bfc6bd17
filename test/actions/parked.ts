import { gatewayTest } from "../gateway/support/gateway-test.ts";
import type { Answer, TestGateway } from "../gateway/support/gateway.ts";
import { planLine, seedRun, setLine } from "../gateway/support/rows.ts";

/** A gateway with a run of four bills, of which three are parked: p1 and p2 with R02, p3 with R03. */
export const parkedTest = gatewayTest()
  .extend("operator", ({ gateway }) => gateway.token("oli", ["operator"]))
  .extend("run", { auto: true }, async ({ gateway }) => {
    const lines = [planLine("p1"), planLine("p2"), planLine("p3"), planLine("p4")];
    const run = await seedRun(gateway.store, { lines });
    for (const id of ["p1", "p2", "p3"]) {
      const reasonCode = id === "p3" ? "R03" : "R02";
      const reason = "account closed";
      await setLine(gateway.store, run.runId, id, { state: "parked", reasonCode, reason });
    }
    return run;
  });

/** Asks the gateway for a decision about a parked bill. */
export async function resolve(
  gateway: TestGateway,
  operator: string,
  payableId: string,
  action: string,
): Promise<Answer> {
  const body = { action, reason: "spoke with the vendor" };
  return gateway.call("POST", `/v1/payables/${payableId}/resolution`, operator, body);
}
