import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

/** What Payrun knows by itself is shown and done while the service is away or useless. */

/** Only the service knows the time of a sandbox. */
const globex = { name: "globex", businessId: "biz_globex", sandbox: true } as const;

const globexRun = { business: "globex", businessId: "biz_globex" };

async function gatewayOf(...profiles: Parameters<typeof profile>[0][]): Promise<TestGateway> {
  const gateway = await startTestGateway({ profiles: profiles.map(profile) });
  onTestFinished(() => gateway.stop());
  return gateway;
}

test.each([
  [401, 502, "api_unavailable"],
  [500, 503, "service_unreachable"],
])(
  "a service that answers %i makes the gateway answer %i: only a temporary fault invites a retry",
  async (answered, status, error) => {
    const service = createServer((_, response) => void response.writeHead(answered).end("{}"));
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void service.close());
    const apiUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const gateway = await gatewayOf({ apiUrl });
    const vic = await gateway.token("vic", ["viewer"]);
    const answer = await gateway.call("GET", "/v1/payments?since=2026-11-01", vic);
    expect(answer).toMatchObject({ status, json: { error } });
  },
);

test("status lists the runs and says that the holds in force are unknown", async () => {
  const gateway = await gatewayOf(globex);
  const { runId } = await seedRun(gateway.store, { ...globexRun, lines: [planLine("q1")] });
  const vic = await gateway.token("vic", ["viewer"]);
  const { code, stdout, stderr } = await typed(gateway, vic, ["status"]);
  expect(code).toBe(0);
  expect(stdout).toContain(runId);
  expect(stderr.match(/Which holds are in force is unknown: .* can't be read/g)).toHaveLength(1);
});

test("resolve reports each of several bills, and stops once the service is away", async () => {
  const gateway = await gatewayOf({}, globex);
  const oli = await gateway.token("oli", ["operator"]);
  const acme = await seedRun(gateway.store, { lines: [planLine("p1")] });
  const other = await seedRun(gateway.store, {
    ...globexRun,
    lines: [planLine("q1"), planLine("q2")],
  });
  await setLine(gateway.store, acme.runId, "p1", { state: "parked" });
  for (const bill of ["q1", "q2"])
    await setLine(gateway.store, other.runId, bill, { state: "parked" });
  const args = ["resolve", "p1", "q1", "q2", "--give-up", "--reason", "a duplicate", "--yes"];
  const { code, stdout } = await typed(gateway, oli, args);
  expect({ code, lines: stdout.trim().split("\n") }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^✓ .*BILL-p1, \$100\.00: given-up/),
      expect.stringMatching(
        /^✗ .*BILL-q1: not known, and the bills after it were left as they were: The sandbox's clock/,
      ),
    ],
  });
});
