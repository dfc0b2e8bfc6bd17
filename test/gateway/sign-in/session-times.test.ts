import { expect, onTestFinished, test } from "vitest";
import { profile, startTestGateway } from "../support/gateway.ts";
import { typed } from "../support/typed.ts";

test("session list and login show times in the profile's zone, and name it", async () => {
  const gateway = await startTestGateway({ profiles: [profile({ zone: "America/Chicago" })] });
  onTestFinished(() => gateway.stop());
  const cora = await gateway.token("Cora", ["controller"]);
  const link = await typed(gateway, cora, ["login"]);
  expect(link.stderr).toMatch(/Opens once, until \w+, .* [AP]M Chicago, for Cora\./);
  const code = link.stdout.trim().split("#")[1] ?? "";
  await fetch(`${gateway.url}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ code }),
    headers: { origin: gateway.url },
    redirect: "manual",
  });
  const listed = await typed(gateway, cora, ["session", "list"]);
  expect(listed.stdout).toMatch(/Cora .* until \w+, .* [AP]M Chicago/);
});
