import "./world/globals.ts";
import "./loader.ts";

// Imported only now, so that the engine's imports find the stand-ins.
const { simulate } = await import("./command.ts");

process.exitCode = await simulate(process.argv.slice(2));
