import { expect, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import {
  applyPlaybook,
  getPlaybook,
  listPlaybooks,
  playbookRevisions,
} from "../../src/store/playbooks.ts";
import { policy } from "./fixtures.ts";
import { testStore } from "./support.ts";

function apply(store: Store, name: string, text: string, author: string) {
  return store.transaction((trx) =>
    applyPlaybook(trx, {
      name,
      kind: "pay-run",
      text,
      compiled: { ...policy, name },
      business: "acme",
      author,
      authorTokenId: null,
      nowMs: 5,
    }),
  );
}

test("a changed text is the next revision, the same text is none", async () => {
  const { store } = await testStore();
  expect(await apply(store, "weekly", "one", "ada")).toEqual({ revision: 1, changed: true });
  expect(await apply(store, "weekly", "one", "bob")).toEqual({ revision: 1, changed: false });
  expect((await getPlaybook(store.db, "weekly"))?.author).toBe("ada");
  expect(await apply(store, "weekly", "two", "bob")).toEqual({ revision: 2, changed: true });
  expect(await apply(store, "weekly", "one", "bob")).toEqual({ revision: 3, changed: true });
  expect(await getPlaybook(store.db, "weekly", 2)).toEqual({
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
  const revisions = await playbookRevisions(store.db, "weekly");
  expect(revisions.map((found) => [found.revision, found.text])).toEqual([
    [3, "one"],
    [2, "two"],
    [1, "one"],
  ]);
});

test("lists the latest revision of each playbook, by name", async () => {
  const { store } = await testStore();
  await apply(store, "weekly", "one", "ada");
  await apply(store, "rent", "one", "ada");
  await apply(store, "weekly", "two", "ada");
  const found = await listPlaybooks(store.db);
  expect(found.map((playbook) => [playbook.name, playbook.revision])).toEqual([
    ["rent", 1],
    ["weekly", 2],
  ]);
  expect(await getPlaybook(store.db, "none")).toBeUndefined();
});
