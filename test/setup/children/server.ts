import { startServer } from "../../support/postgres-setup.ts";

// A test run that starts a server and never stops it.

const { server } = await startServer();
process.stdout.write(`${server.urlOf("postgres")}\n`);
setInterval(() => undefined, 1_000);
