import { sql } from "kysely";
import { openStore } from "../../../src/store/open.ts";

const store = await openStore(process.argv[2] ?? "");
const { rows } = await sql`select version, made_at_ms from payrun_schema`.execute(store.db);
await store.close();
process.stdout.write(JSON.stringify(rows));
