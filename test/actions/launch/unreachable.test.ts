import { describe, expect, test } from "vitest";
import { startTestGateway } from "../../gateway/support/gateway.ts";
import { useLaunches } from "../../gateway/support/launches.ts";

const scene = useLaunches();

describe("with a namespace that isn't there", () => {
  test("a launch in a missing namespace names it, and the gateway reports Temporal as unreachable", async () => {
    const { folder: kept } = scene.on.gateway;
    const lost = await startTestGateway({
      folder: kept,
      temporalAddress: scene.on.address,
      namespace: "nowhere",
    });
    try {
      const body = { playbook: "weekly", period: "2026-05-14" };
      const answer = await lost.call("POST", "/v1/runs", scene.launcher, body);
      expect(answer.status).toBe(503);
      expect(answer.json["error"]).toBe("temporal_namespace_missing");
      expect(answer.json["message"]).toContain("nowhere");
      const parts = { store: "ok", temporal: "unreachable" };
      expect((await lost.call("GET", "/ready", null)).json).toMatchObject(parts);
      const here = await scene.on.gateway.call("GET", "/ready", null);
      expect(here.json).toMatchObject({ store: "ok", temporal: "ok" });
    } finally {
      await lost.stop();
    }
  });
});

describe("with Temporal down", () => {
  test("a launch while Temporal is down is refused but kept, and the next launch goes on with it", async () => {
    const { folder: kept } = scene.on.gateway;
    const offline = await startTestGateway({ folder: kept });
    try {
      const body = { playbook: "weekly", period: "2026-05-07" };
      const failed = await offline.call("POST", "/v1/runs", scene.launcher, body);
      expect(failed.status).toBe(503);
      expect(failed.json["error"]).toBe("temporal_unreachable");
      expect(failed.json["message"]).toContain("is kept, and starts by itself once");
    } finally {
      await offline.stop();
    }
    const answer = await scene.launch({ period: "2026-05-07" });
    expect(answer.status).toBe(200);
    const handle = scene.on.client.workflow.getHandle("pay-run/acme/weekly/2026-05-07");
    expect((await handle.describe()).status.name).toBe("RUNNING");
  });
});
