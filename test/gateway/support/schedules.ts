import type { Client } from "@temporalio/client";
import { afterEach, beforeEach, expect } from "vitest";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { scheduledPayRunId } from "../../../src/contracts/workflow-kinds.ts";
import type { Answer } from "./gateway.ts";
import { type OnTemporal, useGatewayOnTemporal } from "./on-temporal.ts";

type Handle = ReturnType<Client["schedule"]["getHandle"]>;

/** Playbooks with schedules, applied by an administrator, as people see them. */
export interface SchedulesScene {
  readonly on: OnTemporal;
  readonly admin: string;
  /** The gateway's clock, which stands still; at first a Wednesday noon in New York. */
  nowMs: number;
  apply(schedule: string, name?: string): Promise<Answer>;
  /** Returns the entry of one playbook in the list of schedules. */
  shown(name?: string): Promise<Record<string, unknown> | undefined>;
  /** Returns Temporal's handle of the schedule. */
  handle(name?: string): Handle;
  post(path: string, body?: object): Promise<Answer>;
}

/** Makes the scene before each test; the 26th of its first month is Thanksgiving. */
export function useSchedules(profiles?: readonly BusinessProfile[]): SchedulesScene {
  const startMs = Date.parse("2026-11-18T17:00:00Z");
  const on = useGatewayOnTemporal({
    nowMs: () => scene.nowMs,
    ...(profiles === undefined ? {} : { profiles }),
  });
  let admin: string;
  const scene: SchedulesScene = {
    on,
    get admin() {
      return admin;
    },
    nowMs: startMs,
    apply(schedule, name = "weekly") {
      const text = `kind: pay-run\n${schedule === "" ? "" : `schedule: ${schedule}\n`}`;
      return on.gateway.call("POST", "/v1/playbooks", admin, { name, text });
    },
    async shown(name = "weekly") {
      const answer = await on.gateway.call("GET", `/v1/schedules?playbook=${name}`, admin);
      expect(answer.status).toBe(200);
      return (answer.json["items"] as Record<string, unknown>[])[0];
    },
    handle: (name = "weekly") => on.client.schedule.getHandle(scheduledPayRunId("acme", name)),
    post: (path, body = {}) => on.gateway.call("POST", `/v1/schedules/${path}`, admin, body),
  };
  beforeEach(async () => {
    scene.nowMs = startMs;
    admin = await on.gateway.token("ada", ["admin"]);
  });
  afterEach(async () => {
    for (const name of ["weekly", "by-hand"]) {
      await scene
        .handle(name)
        .delete()
        .catch(() => undefined);
    }
  });
  return scene;
}
