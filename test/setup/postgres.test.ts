import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/index.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { embeddedPrograms, unprivilegedUser } from "../support/postgres-programs.ts";
import { PostgresServer } from "../support/postgres-server.ts";

test("where no PostgreSQL is installed, the packaged one keeps a store", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-packaged-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const programs = await embeddedPrograms(join(folder, "native"));
  if (programs === undefined) skip("the package has no PostgreSQL for this platform");
  else {
    const user = await unprivilegedUser();
    const server = await PostgresServer.make(programs, user, join(folder, "server"));
    onTestFinished(() => server.stop());
    const databases = databasesOf(server.urlOf("postgres"));
    await databases.create("packaged");
    const store = await openStore(databases.urlOf("packaged"));
    expect(await store.db.selectFrom("runs").selectAll().execute()).toEqual([]);
    await store.close();
  }
});
