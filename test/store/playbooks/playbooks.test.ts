import { expect, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import {
  applyPlaybook,
  authorsOf,
  getPlaybook,
  listPlaybooks,
  playbookRevisions,
} from "../../../src/store/playbooks/playbooks.ts";
import { policy } from "../fixtures.ts";
import { testStore } from "../support.ts";

const weekly = { business: "acme", name: "weekly" };

function apply(store: Store, name: string, text: string, author: string, business = "acme") {
  return store.transaction((trx) =>
    applyPlaybook(trx, {
      name,
      kind: "pay-run",
      text,
      compiled: { ...policy, name },
      business,
      author,
      authorTokenId: null,
      nowMs: 5,
    }),
  );
}

test("a changed text makes the next revision, and the same text makes none", async () => {
  const { store } = await testStore();
  expect(await apply(store, "weekly", "one", "ada")).toEqual({ revision: 1, changed: true });
  expect(await apply(store, "weekly", "one", "bob")).toEqual({ revision: 1, changed: false });
  expect((await getPlaybook(store.db, weekly))?.author).toBe("ada");
  expect(await apply(store, "weekly", "two", "bob")).toEqual({ revision: 2, changed: true });
  expect(await apply(store, "weekly", "one", "bob")).toEqual({ revision: 3, changed: true });
  expect(await getPlaybook(store.db, weekly, 2)).toEqual({
    name: "weekly",
    revision: 2,
    confirmedAtMs: null,
    confirmedBy: null,
    kind: "pay-run",
    business: "acme",
    text: "two",
    compiled: policy,
    author: "bob",
    authorTokenId: null,
    createdAtMs: 5,
  });
  const revisions = await playbookRevisions(store.db, weekly);
  expect(revisions.map((found) => [found.revision, found.text])).toEqual([
    [3, "one"],
    [2, "two"],
    [1, "one"],
  ]);
});

test("playbooks are listed by name, each with its latest revision", async () => {
  const { store } = await testStore();
  await apply(store, "weekly", "one", "ada");
  await apply(store, "rent", "one", "ada");
  await apply(store, "weekly", "two", "ada");
  const found = await listPlaybooks(store.db);
  expect(found.map((playbook) => [playbook.name, playbook.revision])).toEqual([
    ["rent", 1],
    ["weekly", 2],
  ]);
  expect(await getPlaybook(store.db, { ...weekly, name: "none" })).toBeUndefined();
});

test("two businesses can have playbooks of the same name, each with its own revisions", async () => {
  const { store } = await testStore();
  const theirs = { business: "beta", name: "weekly" };
  await apply(store, "weekly", "one", "ada");
  expect(await apply(store, "weekly", "one", "bob", "beta")).toEqual({
    revision: 1,
    changed: true,
  });
  await apply(store, "weekly", "two", "bob", "beta");
  expect(await getPlaybook(store.db, weekly)).toMatchObject({ revision: 1, text: "one" });
  expect(await getPlaybook(store.db, theirs)).toMatchObject({ revision: 2, text: "two" });
  expect(await playbookRevisions(store.db, weekly)).toHaveLength(1);
  const listed = async (business?: string) =>
    (await listPlaybooks(store.db, business)).map((each) => `${each.business} ${each.revision}`);
  expect((await listed()).toSorted()).toEqual(["acme 1", "beta 2"]);
  expect(await listed("beta")).toEqual(["beta 2"]);
});

test("the authors of a playbook are all who wrote a revision since the last confirmed one", async () => {
  const { store } = await testStore();
  for (const [text, author] of [
    ["one", "ada"],
    ["two", "bob"],
    ["three", "cleo"],
  ] as const) {
    await apply(store, "weekly", text, author);
  }
  const authors = (playbookRevision: number) =>
    authorsOf(store.db, { business: "acme", playbook: "weekly", playbookRevision });
  expect(await authors(3)).toEqual(["cleo", "bob", "ada"]);
  expect(await authors(1)).toEqual(["ada"]);
  await store.db
    .updateTable("playbooks")
    .set({ confirmed_at_ms: 6, confirmed_by: "dan" })
    .where("revision", "=", 2)
    .execute();
  expect(await authors(3)).toEqual(["cleo", "bob"]);
});
