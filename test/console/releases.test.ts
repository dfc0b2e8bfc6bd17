import { expect } from "vitest";
import { CancellationStatusBody } from "../../src/api/cancellations.ts";
import type { TestGateway } from "../gateway/support/gateway.ts";
import { signedIn } from "./support/visits.ts";
import { weeklyTest as test } from "./support/weekly-run.ts";
import { endWithheld, seedWithheld } from "./support/withheld.ts";

test.beforeEach(async ({ gateway }) => {
  await gateway.store.db.updateTable("run_lines").set({ state: "scheduled" }).execute();
});

const DAY_MS = 86_400_000;

async function pagesOf(gateway: TestGateway, name: string, roles: readonly string[]) {
  const visits = await signedIn(gateway, name, roles);
  const [today, needs] = [await visits.get("/"), await visits.get("/needs-action")];
  return { today, needs, visits };
}

test("until a held-back bill is released, pages ask those who may release it, even after its time", async ({
  gateway,
  run,
}) => {
  const bill = { runId: run.runId, payableId: "pbl_0101" };
  const id = await seedWithheld(gateway.store, { ...bill, releaseByMs: Date.now() + DAY_MS });
  const path = `/runs/${encodeURIComponent(id)}`;
  const status = async () => {
    const token = await gateway.token("vera", ["viewer"]);
    const { json } = await gateway.call("GET", `/v1${path}`, token);
    return CancellationStatusBody.parse(json);
  };
  for (const isLate of [false, true]) {
    if (isLate) await endWithheld(gateway.store, id);
    const { today, needs, visits } = await pagesOf(gateway, "cora", ["controller"]);
    expect(today.text).toContain("1 bill of $2,507.54 waits to be released.");
    expect(today.text).toContain("for you to release");
    expect(today.text).not.toMatch(/Nothing needs you now|No run waits/);
    expect(needs.text).toContain("1 bill held back by hold-flagged");
    expect(needs.text).not.toContain("Nothing stands still");
    for (const page of [today, needs, await visits.get(path)]) {
      expect(page.html).toContain('href="/holds/release?id=');
    }
    const other = await pagesOf(gateway, "olga", ["operator", "admin"]);
    expect(other.today.text).toMatch(/Waits for others.*for controller or owner to release/s);
    expect(other.needs.html).not.toContain('href="/holds/release?id=');
    expect((await other.visits.get(path)).html).not.toContain('href="/holds/release?id=');
  }
  expect(await status()).toMatchObject({
    waitingFor: "controller or owner to release 1 held-back bill, $2,507.54, not paid until then",
    needsAction: true,
    releasedBy: ["controller", "owner"],
  });
  const { today, visits } = await pagesOf(gateway, "cora", ["controller"]);
  const [, link = ""] = /href="(\/holds\/release\?id=[^"]+)"/.exec(today.html) ?? [];
  const asked = await visits.get(link);
  await visits.send(asked, "/holds/release", { id: link.split("=")[1] ?? "" });
  expect((await visits.get("/")).text).toContain("Nothing needs you now.");
  expect((await visits.get("/needs-action")).text).toContain("Nothing stands still");
  expect(await status()).toMatchObject({ waitingFor: null, needsAction: false });
});
