import "./world/globals.ts";
import "./loader.ts";

// Only now: what the engine imports must find the stand-ins.
const { simulate } = await import("./command.ts");

process.exitCode = await simulate(process.argv.slice(2));
