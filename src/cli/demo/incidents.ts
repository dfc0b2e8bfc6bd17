import { GatewayClient } from "../gateway-client.ts";
import { incidentAnswer, incidentList } from "../incident-shapes.ts";
import { green } from "../text.ts";
import type { Demo } from "./context.ts";

/** The controller decides once about an account that bounced, for every bill that waits for it. */
export async function releaseAccounts(demo: Demo): Promise<void> {
  const { items } = await demo.gateway.get("/v1/incidents", incidentList);
  for (const { phase, source, bills } of items) {
    if (phase !== "open") continue;
    const token = demo.people.token("controller");
    const controller = new GatewayClient({ url: demo.addresses.gateway, token });
    await controller.post(`/v1/incidents/${encodeURIComponent(source)}/decision`, incidentAnswer, {
      decision: "released",
      reason: "The bank shows the money.",
    });
    const waiting = bills === 1 ? "1 bill waits" : `${bills} bills wait`;
    demo.narrator.line(
      `${green("✓")} One decision for ${source}, which was on hold for all runs (${waiting}): the controller releases it`,
    );
  }
}
