import { profile, startTestGateway, type TestGateway } from "./gateway.ts";
import { planLine, seedRun, type SeededRun } from "./rows.ts";

/** Starts a gateway for a business in Chicago with one run, whose one bill waits for approval. */
export async function ospreyGateway(): Promise<{
  readonly gateway: TestGateway;
  readonly run: SeededRun;
}> {
  const gateway = await startTestGateway({ profiles: [profile({ zone: "America/Chicago" })] });
  const run = await seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [planLine("p1", { publicId: "BILL-000071", contactName: "Osprey Robotics" })],
  });
  return { gateway, run };
}
