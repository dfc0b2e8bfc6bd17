import { expect } from "vitest";
import { CancellationStatusBody } from "../../src/api/cancellations.ts";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import { endWithExceptions, seedCancellation } from "./support/cancellation.ts";
import { signedIn } from "./support/visits.ts";

const test = gatewayTest();

test("Today and Needs action list a cancellation with exceptions while a person can still act", async ({
  gateway,
}) => {
  const id = await seedCancellation(gateway.store, ["pbl_0101"]);
  await endWithExceptions(gateway.store, id);
  const path = `/runs/${encodeURIComponent(id)}`;
  const token = await gateway.token("vera", ["viewer"]);
  const status = async () =>
    CancellationStatusBody.parse((await gateway.call("GET", `/v1${path}`, token)).json);
  const { waitingFor, needsAction } = await status();
  expect(waitingFor).toContain("ask the service's support to stop it before then");
  expect(needsAction).toBe(true);
  const pagesOf = async (name: string, roles: readonly string[]) => {
    const visits = await signedIn(gateway, name, roles);
    return [await visits.get("/"), await visits.get("/needs-action")] as const;
  };
  const [today, needs] = await pagesOf("olga", ["operator"]);
  expect(today.text).toMatch(/Today 1 cancellation ended with exceptions\..* For you to see to/);
  const [todayOfOthers, needsOfOthers] = await pagesOf("cora", ["controller"]);
  expect(todayOfOthers.text).toMatch(/Waits for others .* For operator or admin to see to/);
  for (const { html, text } of [today, needs, todayOfOthers, needsOfOthers]) {
    expect(text).toContain(`Waits for ${waitingFor}`);
    expect(html).toContain(`<a href="${path}">`);
  }
  for (const { text } of [needs, needsOfOthers]) {
    expect(text).toContain("It takes the role operator or admin.");
    expect(text).not.toContain("Nothing stands still");
  }
  // The money went out weeks ago: no person can do anything about it any more.
  const goesOutAtMs = Date.now() - 30 * 86_400_000;
  await gateway.store.db
    .updateTable("cancellation_items")
    .set({ goes_out_at_ms: goesOutAtMs })
    .execute();
  expect(await status()).toMatchObject({ waitingFor: null, needsAction: false });
  const [later, laterNeeds] = await pagesOf("oli", ["operator"]);
  expect(later.text).toContain("Nothing needs you now.");
  expect(laterNeeds.text).toContain("Nothing stands still");
});
