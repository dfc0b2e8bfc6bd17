import { setUp } from "../../scripts/setup/set-up.mjs";

await setUp({ temporalCli: false });
const { makeFoldersInMemory } = await import("../support/folders-in-memory.ts");
makeFoldersInMemory();
await import("./main.ts");
