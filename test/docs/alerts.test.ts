import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { ConditionBody } from "../../src/api/conditions.ts";
import { sharedGatewayTest } from "../gateway/support/gateway-test.ts";

const ROOT = join(import.meta.dirname, "../..");

const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

const text = readFileSync(join(ROOT, "docs/alerts.yaml"), "utf8");
const rules = Rules.parse(parse(text)).groups.flatMap((group) => group.rules);

const test = sharedGatewayTest();

test("there are six alerts, and every metric that they use is one of the gateway's", async ({
  gateway,
}) => {
  expect(rules).toHaveLength(6);
  const token = await gateway.token("vera", ["viewer"]);
  const { text: metrics } = await gateway.call("GET", "/metrics", token);
  const named = rules.flatMap(({ expr }) => expr.match(/payrun_\w+/g) ?? []);
  expect(new Set(named)).toEqual(new Set(["payrun_conditions", "payrun_workers"]));
  for (const name of named) expect(metrics).toMatch(new RegExp(`^# TYPE ${name} `, "m"));
});

test("alerts use labels that their metric has, and a gateway without a worker meets the alert for it", async ({
  gateway,
}) => {
  const token = await gateway.token("viola", ["viewer"]);
  const { text: metrics } = await gateway.call("GET", "/metrics", token);
  const [, has = ""] = /^payrun_conditions\{(.*code="no_worker".*)\} 1$/m.exec(metrics) ?? [];
  const labels = [...has.matchAll(/(\w+)="/g)].map(([, label]) => label);
  const asked = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/by \((\w+)\)|\{(\w+)=/g)].map(([, by, chosen]) => by ?? chosen),
  );
  expect(new Set(asked)).toEqual(new Set(["business", "code"]));
  expect(labels).toEqual(expect.arrayContaining([...new Set(asked)]));
  expect(metrics).toContain('payrun_workers{state="working"} 0');
  const noWorker = rules.find(({ alert }) => alert === "PayrunNoWorker");
  expect(noWorker?.expr).toContain(
    'payrun_conditions{code=~"temporal_unreachable|no_worker|key_missing"}) > 0',
  );
});

test("every condition that an alert uses exists", () => {
  const codes = rules.flatMap(({ expr }) => {
    const [, listed = ""] = /code=~?"([^"]+)"/.exec(expr) ?? [];
    return listed.split("|");
  });
  expect(codes.length).toBeGreaterThan(4);
  const known: readonly string[] = ConditionBody.shape.code.options;
  expect(codes.filter((code) => !known.includes(code))).toEqual([]);
});

test.each(rules)("the runbook of $alert exists", ({ annotations: { runbook } }) => {
  const [page = "", anchor] = runbook.split("#");
  const headings = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^#+ (.+)$/gm)];
  const anchors = headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  expect(anchors).toContain(anchor);
});
