import { mutate } from "./command.ts";

process.exitCode = await mutate(process.argv.slice(2));
