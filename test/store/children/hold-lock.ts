import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(process.argv[2] ?? "");
database.exec("begin immediate");
process.stdout.write("locked\n");
process.stdin.resume();
await once(process.stdin, "end");
database.exec("rollback");
database.close();
