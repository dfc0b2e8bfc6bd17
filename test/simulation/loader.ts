import { registerHooks } from "node:module";
import { parseArgs } from "node:util";
import { planted } from "./planting.ts";
import { PLANTS } from "./plants/plants.ts";

/** The modules that the engine imports, and their stand-ins here. */
const STAND_INS: Readonly<Record<string, string>> = {
  undici: new URL("./service/undici-stand-in.ts", import.meta.url).href,
  "@temporalio/workflow": new URL("./temporal/workflow-stand-in.ts", import.meta.url).href,
  "@temporalio/activity": new URL("./temporal/activity-stand-in.ts", import.meta.url).href,
};

const ROOT = new URL("../../", import.meta.url).href;

// Other options, and mistakes, are the command line parser's concern.
const { values } = parseArgs({ strict: false, options: { plant: { type: "string" } } });
const plant = PLANTS.find(({ name }) => name === values.plant);

registerHooks({
  resolve(specifier, context, next) {
    const url = STAND_INS[specifier];
    const isOurs = context.parentURL?.includes("/node_modules/") !== true;
    return url !== undefined && isOurs ? { url, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (plant === undefined || url !== ROOT + plant.file) return loaded;
    const { source: real } = loaded;
    if (real === null || real === undefined) throw new Error(`${url} has no source`);
    const text = typeof real === "string" ? real : new TextDecoder().decode(real);
    const source = planted(text, plant);
    process.stderr.write(
      `plant ${plant.name} takes the place of ${plant.replaces} in ${plant.file}\n`,
    );
    return { ...loaded, source };
  },
});
