import { expect, test } from "vitest";
import { tokenProblem } from "../../../src/domain/approvals/token.ts";
import { listAudit, STORE_TRAIL } from "../../../src/store/audit/audit.ts";
import {
  confirmToken,
  createFirstTokens,
  createToken,
  findToken,
  getToken,
  listTokens,
  renewToken,
  revokeToken,
  viewTokens,
} from "../../../src/store/approvals/tokens.ts";
import { tokensMadeBy } from "../../../src/store/approvals/tokens-made.ts";
import { noteUse } from "../../../src/store/approvals/uses.ts";
import { testStore } from "../support.ts";

const lena = { name: "Lena", roles: ["launcher", "viewer"], createdBy: "admin", nowMs: 10 };
const DAYS_90 = 90 * 86_400_000;

async function trailOf(store: Awaited<ReturnType<typeof testStore>>["store"]) {
  const trail = await listAudit(store.db, { businessId: STORE_TRAIL });
  return trail.map(({ action, actor, subject, details }) => ({ action, actor, subject, details }));
}

test("a token is found by its text, which is not stored, and ends after 90 days", async () => {
  const { store } = await testStore();
  const { tokenId, token } = await createToken(store, lena);
  expect(token).toMatch(/^payrun_[\w-]{43}$/);
  expect(await findToken(store.db, token)).toEqual({
    tokenId,
    name: "Lena",
    principal: "lena",
    roles: ["launcher", "viewer"],
    businesses: null,
    createdAtMs: 10,
    createdBy: "admin",
    createdByKind: "principal",
    maker: "admin",
    confirmedAtMs: null,
    confirmedBy: null,
    confirmedByKind: null,
    expiresAtMs: 10 + DAYS_90,
    revokedAtMs: null,
  });
  expect(await findToken(store.db, `${token}x`)).toBeUndefined();
  const stored = await store.db.selectFrom("tokens").selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain(token);
});

test("every change and use of a token is in the trail, without the token's text", async () => {
  const { store } = await testStore();
  const { tokenId, token } = await createToken(store, { ...lena, roles: ["owner"] });
  const known = { tokenId, name: "Lena" };
  await store.transaction((trx) => confirmToken(trx, known, { by: "bea", nowMs: 11 }));
  await store.transaction((trx) => confirmToken(trx, known, { by: "again", nowMs: 12 }));
  const renewed = await store.transaction((trx) => renewToken(trx, known, 13));
  expect(await findToken(store.db, token)).toBeUndefined();
  expect(await findToken(store.db, renewed)).toMatchObject({ tokenId, confirmedBy: "bea" });
  for (const address of ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) {
    await noteUse(store, { id: tokenId, name: "Lena" }, { address, nowMs: 14 });
  }
  expect(await revokeToken(store, tokenId, { by: "ada", nowMs: 15 })).toBe(true);
  expect(await revokeToken(store, tokenId, { by: "ada", nowMs: 16 })).toBe(false);
  const [view] = await viewTokens(store.db, { nowMs: 17, sandboxesOnly: false });
  const at = (ms: number) => new Date(ms).toISOString();
  expect(view).toMatchObject({ state: "revoked", revokedAt: at(15), lastUsedAt: at(14) });
  const subject = tokenId;
  const trail = await trailOf(store);
  expect(trail).toMatchObject([
    { action: "token.created", actor: "admin", subject, details: { roles: ["owner"] } },
    { action: "token.confirmed", actor: "bea", subject },
    { action: "token.renewed", actor: "Lena", subject },
    { action: "token.used", actor: "Lena", subject, details: { from: "10.0.0.1" } },
    { action: "token.used", actor: "Lena", subject, details: { from: "10.0.0.2" } },
    { action: "token.revoked", actor: "ada", subject },
  ]);
  for (const secret of [token, renewed]) expect(JSON.stringify(trail)).not.toContain(secret);
});

test("the first two administrators can be created only while no administrator has a valid token", async () => {
  const { store } = await testStore();
  const made = await createFirstTokens(store, ["Ada", "Bea"], 10);
  expect(made?.map(({ name }) => name)).toEqual(["Ada", "Bea"]);
  for (const { tokenId } of made ?? []) {
    const token = await getToken(store.db, tokenId);
    expect(token).toMatchObject({ roles: ["admin"] });
    const now = { nowMs: 11, sandboxesOnly: false };
    expect(token && tokenProblem(token, now)).toBeUndefined();
  }
  expect(await createFirstTokens(store, ["Eve", "Mallory"], 12)).toBeUndefined();
  expect(await listTokens(store.db)).toHaveLength(2);
  expect(await createFirstTokens(store, ["Cleo", "Dan"], 10 + DAYS_90)).toHaveLength(2);
});

test("a token used from very many addresses fills neither the table of uses nor the trail", async () => {
  const { store } = await testStore();
  const { tokenId } = await createToken(store, lena);
  for (let at = 0; at < 130; at += 1) {
    await noteUse(
      store,
      { id: tokenId, name: "Lena" },
      { address: `10.0.0.${at}`, nowMs: 20 + at },
    );
  }
  expect(await store.db.selectFrom("token_uses").selectAll().execute()).toHaveLength(101);
  const told = (await trailOf(store)).filter(({ action }) => action === "token.used");
  expect(told).toHaveLength(101);
  expect(told.at(-1)?.details).toMatchObject({ from: "others" });
});

test("the tokens that a person made after an instant are found, even through others, until a second person confirms them", async () => {
  const { store } = await testStore();
  const make = async (name: string, createdBy: string, nowMs: number) => {
    const made = await createToken(store, { name, roles: ["controller"], createdBy, nowMs });
    return made.tokenId;
  };
  await make("before", "Lena", 5);
  const puppet = await make("puppet", "LENA", 10);
  const puppets = await make("puppet of puppet", "puppet", 11);
  const own = await make("lena", "puppet  of puppet", 12);
  await make("other", "admin", 11);
  expect(await tokensMadeBy(store.db, ["lena"], 10)).toEqual(new Set([puppet, puppets, own]));
  const known = { tokenId: puppets, name: "puppet of puppet" };
  await store.transaction((trx) => confirmToken(trx, known, { by: "bea", nowMs: 13 }));
  expect(await tokensMadeBy(store.db, ["lena"], 10)).toEqual(new Set([puppet]));
});
