import { createHash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import { listInputs } from "../../src/store/onboarding/onboarding-inputs.ts";
import {
  endOnboarding,
  recordOnboarding,
  updateOnboarding,
} from "../../src/store/onboarding/onboardings.ts";
import { ADA, BEN, DATA, KYB_POLICY, PLANTED } from "../support/onboarding.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { startTestGateway, type TestGateway } from "./support/gateway.ts";
import { typed } from "./support/typed.ts";

const test = gatewayTest().extend("owner", ({ gateway }) => gateway.token("olga", ["owner"]));

async function begin(gateway: TestGateway, on = gateway): Promise<void> {
  await on.store.transaction((trx) =>
    recordOnboarding(trx, {
      businessId: "biz_acme",
      business: "acme",
      workflowId: "kyb-onboarding/acme",
      playbook: "kyb",
      playbookRevision: 1,
      policy: KYB_POLICY,
      launchedBy: "lena",
      launchedByTokenId: null,
      nowMs: 1,
    }),
  );
}

const provide = (gateway: TestGateway, owner: string, step: string, body: unknown, token = owner) =>
  gateway.call("POST", `/v1/onboardings/acme/${step}`, token, body);

const inputs = (gateway: TestGateway) => listInputs(gateway.store.db, "biz_acme", 1);

test("inputs are refused before an onboarding is launched and after its end", async ({
  gateway,
  owner,
}) => {
  const early = await provide(gateway, owner, "tax", DATA.tax);
  expect(early.status).toBe(404);
  expect(early.json["message"]).toContain("payrun launch");
  await begin(gateway);
  await gateway.store.transaction((trx) => endOnboarding(trx, "biz_acme", 2));
  expect((await provide(gateway, owner, "tax", DATA.tax)).json["error"]).toBe("onboarding_ended");
  expect(await inputs(gateway)).toEqual([]);
});

test("the playbook's roles, operators and administrators may provide inputs, others may not", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  for (const role of ["viewer", "launcher", "controller"]) {
    const token = await gateway.token(`a-${role}`, [role]);
    expect((await provide(gateway, owner, "tax", DATA.tax, token)).status, role).toBe(403);
  }
  for (const role of ["operator", "admin"]) {
    const token = await gateway.token(`a-${role}`, [role]);
    expect((await provide(gateway, owner, "tax", DATA.tax, token)).status, role).toBe(202);
  }
  expect((await provide(gateway, owner, "tax", DATA.tax)).status).toBe(202);
});

test("personal data is only in the vault: not in rows, answers, the trail, the log or files", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  for (const [step, body] of Object.entries(DATA)) {
    const { status, text } = await provide(gateway, owner, step, body);
    expect(status, text).toBe(202);
    expectNothingOf(text);
  }
  const { db } = gateway.store;
  const trail = await listAudit(db, { businessId: "biz_acme" });
  const notices = await db.selectFrom("notices").selectAll().execute();
  expectNothingOf(JSON.stringify([await inputs(gateway), trail, notices, gateway.logged]));
  for (const file of await readdir(gateway.folder)) {
    expectNothingOf((await readFile(join(gateway.folder, file))).toString("latin1"));
  }
});

function expectNothingOf(text: string): void {
  const found = Object.entries(PLANTED).filter(
    ([, value]) =>
      text.includes(value) ||
      text.includes(value.replaceAll("-", "")) ||
      text.includes(Buffer.from(value).toString("base64")),
  );
  expect(found.map(([what]) => what)).toEqual([]);
}

test.for<[string, object, string]>([
  ["tax", { ein: `${PLANTED.ein}1` }, "ein"],
  ["tax", { ein: PLANTED.ein, ssn: PLANTED.ssn }, "either ein"],
  ["tax", {}, "either ein"],
  ["signature", { signedAt: "2026-01-15" }, "signerName"],
  ["signature", { signerName: "Ada", signedAt: "yesterday" }, "signedAt"],
  ["officers", { officers: [{ ...ADA, ssn: `${PLANTED.ssn}x` }] }, ""],
  ["officers", { officers: [] }, ""],
  ["documents", { documentType: "einLetter", file: PLANTED.letter }, ""],
  ["bank-account", { accountNumber: PLANTED.accountNumber, routingNumber: "1" }, "routingNumber"],
  ["micro-deposits", { amountsCents: [12, 100] }, "amountsCents"],
])(
  "%s: a wrong body is refused without repeating it",
  async ([step, body, said], { gateway, owner }) => {
    await begin(gateway);
    const { status, json, text } = await provide(gateway, owner, step, body);
    expect(status).toBe(400);
    expect(String(json["message"])).toContain(said);
    expectNothingOf(text);
    expectNothingOf(JSON.stringify(gateway.logged));
    expect(await inputs(gateway)).toEqual([]);
  },
);

test("off a terminal, a signature needs --yes, and its text is shown either way", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  const folder = await mkdtemp(join(tmpdir(), "payrun-kyb-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "signature.json");
  await writeFile(file, JSON.stringify(DATA.signature));
  const command = ["provide", "acme", "signature", "--file", file];
  const unasked = await typed(gateway, owner, command);
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain("Under penalties of perjury");
  expect(unasked.stderr).toContain("add --yes");
  expect(await inputs(gateway)).toEqual([]);
  expect((await typed(gateway, owner, [...command, "--yes"])).code).toBe(0);
  expect(await inputs(gateway)).toHaveLength(1);
});

test("the trail has who signed which text, when and from where", async ({ gateway, owner }) => {
  await begin(gateway);
  const text = String((await provide(gateway, owner, "tax", DATA.tax)).text);
  const shown = (JSON.parse(text) as { texts: { signature: string } }).texts.signature;
  const textHash = createHash("sha256").update(shown).digest("hex");
  const other = await provide(gateway, owner, "signature", {
    ...DATA.signature,
    textHash: "0".repeat(64),
  });
  expect(other.json["error"]).toBe("other_text");
  expect((await provide(gateway, owner, "signature", { ...DATA.signature, textHash })).status).toBe(
    202,
  );
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme" });
  expect(trail.at(-1)).toMatchObject({
    action: "onboarding.signed",
    actor: "olga",
    subject: "kyb-onboarding/acme",
    details: {
      name: "Ada Okafor",
      at: DATA.signature.signedAt,
      text: shown,
      textSha256: textHash,
      textConfirmed: true,
      from: "127.0.0.1",
    },
  });
});

test("a legal act is void once a newer input is given that it doesn't cover", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  for (const step of ["tax", "signature", "officers", "certification"] as const) {
    await provide(gateway, owner, step, DATA[step]);
  }
  await provide(gateway, owner, "officers", [{ ...BEN, firstName: "Bea", ssn: "567-89-1234" }]);
  await provide(gateway, owner, "tax", DATA.tax);
  const kept = (await inputs(gateway)).map(({ step, state }) => `${step} ${state}`);
  expect(kept).toEqual([
    "tax replaced",
    "signature replaced",
    "officers waiting",
    "officers waiting",
    "certification replaced",
    "officers waiting",
    "tax waiting",
  ]);
  const rows = await gateway.store.db.selectFrom("vault").select("vault_ref").execute();
  expect(rows).toHaveLength(4);
});

test("without an encryption key personal data is refused with the name of the setting", async ({
  gateway,
}) => {
  const keyless = await startTestGateway({ keys: [] });
  try {
    await begin(gateway, keyless);
    const token = await keyless.token("olga", ["owner"]);
    const answer = await keyless.call("POST", "/v1/onboardings/acme/tax", token, DATA.tax);
    expect(answer.status).toBe(503);
    expect(answer.json["message"]).toContain("PAYRUN_ENCRYPTION_KEYS");
    expect(await listInputs(keyless.store.db, "biz_acme", 1)).toEqual([]);
  } finally {
    await keyless.stop();
  }
});

test("a document may be as large as the service takes, other bodies may not", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  const file = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(3_000_000)]).toString("base64");
  expect(
    (await provide(gateway, owner, "documents", { documentType: "einLetter", file })).status,
  ).toBe(202);
  expect((await provide(gateway, owner, "tax", { ein: file })).status).toBe(413);
});

test("an onboarding is listed among the runs, and found by its phase", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  const { json } = await gateway.call("GET", "/v1/runs?phase=tax", owner);
  expect(json["items"]).toMatchObject([{ id: "kyb-onboarding/acme", kind: "kyb-onboarding" }]);
  const none = await gateway.call("GET", "/v1/runs?phase=verified", owner);
  expect(none.json["items"]).toEqual([]);
});

test("an operator can end an onboarding, which deletes its personal data and stays ended", async ({
  gateway,
  owner,
}) => {
  await begin(gateway);
  await provide(gateway, owner, "tax", DATA.tax);
  const path = "/v1/runs/kyb-onboarding%2Facme/cancel";
  expect((await gateway.call("POST", path, owner, {})).status).toBe(403);
  const operator = await gateway.token("otto", ["operator"]);
  const { status, json } = await gateway.call("POST", path, operator, { reason: "a wrong one" });
  expect(status).toBe(200);
  expect(json).toMatchObject({ kind: "kyb-onboarding", phase: "expired", ended: true });
  expect(json["waitingFor"]).toContain("cancelled by otto");
  const { db } = gateway.store;
  expect(await db.selectFrom("vault").selectAll().execute()).toEqual([]);
  const trail = await listAudit(db, { businessId: "biz_acme" });
  expect(trail.at(-1)).toMatchObject({
    action: "onboarding.ended",
    actor: "otto",
    details: { reason: "a wrong one", forgotten: 1 },
  });
  expect((await inputs(gateway)).map(({ step, state }) => `${step} ${state}`)).toEqual([
    "tax refused",
  ]);
  // A look that began earlier does not overwrite it.
  await updateOnboarding(db, "biz_acme", { phase: "tax", needsAction: true }, Date.now());
  const after = await gateway.call("GET", "/v1/runs/kyb-onboarding%2Facme", operator);
  expect(after.json).toMatchObject({ phase: "expired", needsAction: false });
  expect((await gateway.call("POST", path, operator, {})).json["error"]).toBe("run_ended");
});
