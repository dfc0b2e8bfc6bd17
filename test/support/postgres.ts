import { randomBytes } from "node:crypto";
import { inject, onTestFinished } from "vitest";
import { databasesOf } from "./postgres-databases.ts";
import "./postgres-setup.ts";

/**
 * Creates a database on the shared server, and drops it after the test.
 *
 * @param kind `store` already has an empty store, `empty` has nothing
 * @returns its address
 */
export async function newDatabase(kind: "store" | "empty"): Promise<string> {
  const shared = inject("postgres");
  if (shared === undefined) throw new Error("this project has no PostgreSQL server");
  const databases = databasesOf(shared.adminUrl);
  const name = `payrun_test_${randomBytes(6).toString("hex")}`;
  await (kind === "store" ? databases.copy(shared.template, name) : databases.create(name));
  onTestFinished(() => databases.drop(name));
  return databases.urlOf(name);
}
