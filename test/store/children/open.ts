import { openStore } from "../../../src/store/index.ts";

const store = await openStore(process.argv[2] ?? "");
const migrations = await store.db
  .withTables<{ payrun_migrations: { version: number } }>()
  .selectFrom("payrun_migrations")
  .select("version")
  .orderBy("version")
  .execute();
await store.close();
process.stdout.write(JSON.stringify(migrations.map((row) => row.version)));
