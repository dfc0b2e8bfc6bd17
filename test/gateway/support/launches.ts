import { beforeEach, expect } from "vitest";
import type { Answer } from "./gateway.ts";
import { type OnTemporal, useGatewayOnTemporal } from "./on-temporal.ts";

/** A stored pay-run playbook, `weekly`, and the token of a launcher. */
export interface LaunchScene {
  readonly on: OnTemporal;
  readonly launcher: string;
  launch(body: object): Promise<Answer>;
}

/** Makes the scene before each test; a dry plan times out after a second. */
export function useLaunches(): LaunchScene {
  const on = useGatewayOnTemporal({ planTimeoutMs: 1_000 });
  let launcher: string;
  beforeEach(async () => {
    const admin = await on.gateway.token("ada", ["admin"]);
    launcher = await on.gateway.token("lou", ["launcher"]);
    const body = { name: "weekly", text: "kind: pay-run\nselect: { due: all }\n" };
    expect((await on.gateway.call("POST", "/v1/playbooks", admin, body)).status).toBe(200);
  });
  return {
    on,
    get launcher() {
      return launcher;
    },
    launch: (body) =>
      on.gateway.call("POST", "/v1/runs", launcher, { playbook: "weekly", ...body }),
  };
}
