import { expect, test } from "vitest";
import { profile } from "../support/gateway.ts";
import { useSchedules } from "../support/schedules.ts";

const profiles = [profile()];
const scene = useSchedules(profiles);

test("a playbook whose business is not the only one any more hides no other's schedule", async () => {
  await scene.apply("{ every: thursday }");
  const named = "kind: pay-run\nbusiness: acme\nschedule: { every: friday }\n";
  const { gateway } = scene.on;
  const body = { name: "by-hand", text: named };
  expect((await gateway.call("POST", "/v1/playbooks", scene.admin, body)).status).toBe(200);
  profiles.push(profile({ name: "globex", businessId: "biz_globex" }));
  const { status, json } = await gateway.call("GET", "/v1/schedules", scene.admin);
  expect(status).toBe(200);
  expect(json["items"]).toMatchObject([{ playbook: "by-hand", state: "active" }]);
  expect(json["problems"]).toEqual([
    { playbook: "weekly", message: expect.stringContaining("acme, globex") as string },
  ]);
});
