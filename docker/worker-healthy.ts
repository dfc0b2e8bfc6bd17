import { hostname } from "node:os";
import process from "node:process";

import { loadConfig } from "../src/config.ts";
import { openStore } from "../src/store/open.ts";
import { knownWorkers } from "../src/store/sql/worker-leases.ts";

/** Exit code 0 while this machine's worker works: it tells the store so every ten seconds. */
const store = await openStore(loadConfig().databaseUrl);
try {
  const here = (await knownWorkers(store.db)).filter(({ workerId }) =>
    workerId.startsWith(`${hostname()}:`),
  );
  process.exitCode = here.some(({ silentMs }) => silentMs === 0) ? 0 : 1;
} finally {
  await store.close();
}
