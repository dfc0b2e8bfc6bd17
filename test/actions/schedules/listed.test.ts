import { expect, test } from "vitest";
import { profile } from "../../gateway/support/gateway.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const profiles = [profile()];
const scene = useSchedules(profiles);

test("a playbook stays with its business if others are added, and a removed business hides no other's schedule", async () => {
  await scene.apply("{ every: thursday }");
  const named = "kind: pay-run\nbusiness: acme\nschedule: { every: friday }\n";
  const { gateway } = scene.on;
  const body = { name: "by-hand", text: named };
  expect((await gateway.call("POST", "/v1/playbooks", scene.admin, body)).status).toBe(200);
  profiles.push(profile({ name: "globex", businessId: "biz_globex" }));
  const shown = async () => (await gateway.call("GET", "/v1/schedules", scene.admin)).json;
  const active = (playbook: string) => ({ playbook, business: "acme", state: "active" });
  const both = [active("by-hand"), active("weekly")];
  expect(await shown()).toMatchObject({ items: both, problems: [] });
  profiles.shift();
  const gone = (playbook: string) => ({
    ...{ playbook, business: "acme" },
    message: expect.stringContaining("not configured any more") as string,
  });
  const problems = [gone("by-hand"), gone("weekly")];
  expect(await shown()).toMatchObject({ items: [], problems });
});
