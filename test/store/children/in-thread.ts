import { openStore } from "../../../src/store/open.ts";

/** Reads from a store in a thread, and leaves it open: nothing else keeps this process alive. */
const store = await openStore(String(process.argv[2]), { ownThread: true });
const claims = await store.db.selectFrom("claims").selectAll().execute();
process.stdout.write(JSON.stringify({ claims: claims.length }));
