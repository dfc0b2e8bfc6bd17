import { expect, onTestFinished, test } from "vitest";
import { startTestGateway } from "./support/gateway.ts";

test("metrics are named by Prometheus's conventions, and their routes contain no ids", async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.stop());
  const token = await gateway.token("vera", ["viewer"]);
  await gateway.call("GET", "/v1/payables/pbl_1/history", token);
  const { text } = await gateway.call("GET", "/metrics", token);
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const own = types.filter(([, name = ""]) => name.startsWith("payrun_"));
  expect(own.length).toBeGreaterThan(10);
  for (const [, name = "", type = ""] of types) {
    expect(name).toMatch(/^(payrun|process|nodejs)_[a-z0-9_]+$/);
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
  for (const [, name = "", type = ""] of own) {
    expect(name.endsWith("_total"), name).toBe(type === "counter");
  }
  expect(text).toContain('route="/v1/payables/:id/history"');
  expect(text).not.toContain("pbl_1");
});
