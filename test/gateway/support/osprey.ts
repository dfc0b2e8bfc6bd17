import { profile } from "./gateway.ts";
import { gatewayTest } from "./gateway-test.ts";
import { planLine, seedRun } from "./rows.ts";

/** Tests with a gateway for a business in Chicago and one run, whose one bill waits for approval. */
export const ospreyTest = gatewayTest({
  profiles: [profile({ zone: "America/Chicago" })],
}).extend("run", { auto: true }, ({ gateway }) =>
  seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [planLine("p1", { publicId: "BILL-000071", contactName: "Osprey Robotics" })],
  }),
);
