import { expect, test } from "vitest";
import { listAudit, STORE_TRAIL } from "../../src/store/audit.ts";
import {
  createToken,
  findToken,
  listTokens,
  revokeToken,
  tokensCreatedBy,
} from "../../src/store/tokens.ts";
import { testStore } from "./support.ts";

const lena = { name: "lena", roles: ["launcher", "viewer"], createdBy: "admin", nowMs: 10 };

test("a token is known by its text, which is stored nowhere", async () => {
  const { store } = await testStore();
  const { tokenId, token } = await createToken(store, lena);
  expect(token).toMatch(/^payrun_[\w-]{43}$/);
  expect(await findToken(store.db, token, 11)).toEqual({
    tokenId,
    name: "lena",
    roles: ["launcher", "viewer"],
    createdAtMs: 10,
    createdBy: "admin",
    expiresAtMs: null,
    revokedAtMs: null,
  });
  expect(await findToken(store.db, `${token}x`, 11)).toBeUndefined();
  const stored = await store.db.selectFrom("tokens").selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain(token);
});

test("expired and revoked tokens open nothing, and stay on the list", async () => {
  const { store } = await testStore();
  const expiring = await createToken(store, { ...lena, expiresAtMs: 20 });
  expect(await findToken(store.db, expiring.token, 19)).toBeDefined();
  expect(await findToken(store.db, expiring.token, 20)).toBeUndefined();
  const revoked = await createToken(store, { ...lena, name: "otto", nowMs: 12 });
  expect(await revokeToken(store, revoked.tokenId, { by: "ada", nowMs: 15 })).toBe(true);
  expect(await revokeToken(store, revoked.tokenId, { by: "ada", nowMs: 16 })).toBe(false);
  expect(await findToken(store.db, revoked.token, 16)).toBeUndefined();
  expect(await listTokens(store.db)).toMatchObject([
    { name: "lena", expiresAtMs: 20 },
    { name: "otto", revokedAtMs: 15 },
  ]);
  const trail = await listAudit(store.db, { businessId: STORE_TRAIL });
  const { roles } = lena;
  expect(trail.map(({ auditId: _, ...entry }) => entry)).toMatchObject([
    { action: "token.created", actor: "admin", details: { name: "lena", roles, expiresAtMs: 20 } },
    { action: "token.created", actor: "admin", atMs: 12, subject: revoked.tokenId },
    { action: "token.revoked", actor: "ada", atMs: 15, subject: revoked.tokenId },
  ]);
  expect(JSON.stringify(trail)).not.toContain(revoked.token);
});

test("finds what somebody made after an instant, through the hands of others too", async () => {
  const { store } = await testStore();
  const make = (name: string, createdBy: string, nowMs: number) =>
    createToken(store, { name, roles: ["controller"], createdBy, nowMs });
  await make("before", "lena", 5);
  await make("puppet", "lena", 10);
  await make("puppet-of-puppet", "puppet", 11);
  await make("lena", "puppet-of-puppet", 12);
  await make("other", "admin", 11);
  const names = (await tokensCreatedBy(store.db, "lena", 10)).map((token) => token.name);
  expect(names.sort()).toEqual(["lena", "puppet", "puppet-of-puppet"]);
});
