import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Profiles } from "../../src/config/profiles.ts";
import { watchProfiles } from "../../src/process/profile-watch.ts";
import { verifyTrail } from "../../src/store/audit/audit-trail.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { testStore } from "../store/support.ts";
import { makeSigner } from "../support/signing.ts";

const SECRET = "hunter2";
const log = { warn: () => {} };

function profileText(changes: Readonly<Record<string, unknown>> = {}): string {
  const notify = {
    smtp: { url: `smtp://payrun:${SECRET}@mail.example:587`, from: "payrun@acme.example" },
    channels: { chat: { slack: "https://hooks.example/T0/SECRETPATH" } },
  };
  const acme = { apiUrl: "https://p.example", businessId: "biz_1", token: "t", notify, ...changes };
  return JSON.stringify({ businesses: { acme } });
}

test("each change of a profile's limits, signers, identities and whom to notify is one entry of the trail, whatever number of processes read it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-profiles-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "profiles.yaml");
  const { store } = await testStore();
  const noted = async () =>
    (await listAudit(store.db, { businessId: "biz_1", subject: "profile/acme" })).map(
      ({ details }) => details,
    );
  writeFileSync(path, profileText());
  const processes = [1, 2].map(() => {
    const profiles = new Profiles({ path, env: {} });
    return { profiles, watch: watchProfiles({ store, profiles, log }) };
  });
  onTestFinished(async () => {
    for (const { watch } of processes) await watch.stop();
  });
  await expect.poll(noted).toHaveLength(1);

  const { keyId, name, roles, publicKey } = makeSigner("mallory", ["owner"]);
  writeFileSync(path, profileText({ signers: { [keyId]: { name, roles, publicKey } } }));
  for (const { profiles } of processes) expect(profiles.all()[0]?.signers).toHaveLength(1);
  // Changed back before anything was noted: what was read in between is noted all the same.
  writeFileSync(path, profileText({ limits: { bill: "$5,000" } }));
  await expect.poll(noted, { timeout: 20_000 }).toHaveLength(3);
  const person = { issuer: "https://id.example", subject: "7", name: "mallory", roles: ["owner"] };
  writeFileSync(path, profileText({ limits: { bill: "$5,000" }, identities: [person] }));
  await expect.poll(noted, { timeout: 20_000 }).toHaveLength(4);
  const notify = { channels: { chat: { slack: "https://hooks.example/T0/MALLORYS" } } };
  writeFileSync(path, profileText({ limits: { bill: "$5,000" }, identities: [person], notify }));
  await expect.poll(noted, { timeout: 20_000 }).toHaveLength(5);
  for (const { watch } of processes) await watch.stop();
  const [first, second, third, fourth, fifth] = await noted();
  expect(first).toMatchObject({
    changed: expect.arrayContaining(["notify", "sandbox"]) as unknown,
  });
  expect(second).toMatchObject({ changed: ["signers"], values: { signers: [{ keyId, roles }] } });
  expect(third).toMatchObject({
    changed: ["limits", "signers"],
    values: { limits: { billCents: 500_000 } },
  });
  expect(fourth).toMatchObject({ changed: ["identities"], values: { identities: [person] } });
  expect(fifth).toMatchObject({ changed: ["notify"] });
  const whole = JSON.stringify(await listAudit(store.db, { businessId: "biz_1" }));
  expect(whole).not.toContain(SECRET);
  expect(whole).not.toContain("SECRETPATH");
  expect(whole).not.toContain("MALLORYS");
  expect((await verifyTrail(store.db, "biz_1")).problems).toEqual([]);
});
