import { openStore } from "../../../src/store/open.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import { newRun } from "../fixtures.ts";

const [url = ""] = process.argv.slice(2);
const store = await openStore(url, { mustExist: true });
const { runId, created } = await upsertRun(store.db, newRun());
await store.close();
process.stdout.write(JSON.stringify({ runId, created }));
