import { setUp } from "../../scripts/setup/set-up.mjs";

await setUp({ temporalCli: false });
await import("./main.ts");
