import { registerHooks } from "node:module";

/** What the engine imports, and what it gets here instead. */
const STAND_INS: Readonly<Record<string, string>> = {
  undici: new URL("./service/undici-stand-in.ts", import.meta.url).href,
  "@temporalio/workflow": new URL("./temporal/workflow-stand-in.ts", import.meta.url).href,
  "@temporalio/activity": new URL("./temporal/activity-stand-in.ts", import.meta.url).href,
};

registerHooks({
  resolve(specifier, context, next) {
    const url = STAND_INS[specifier];
    const isOurs = context.parentURL?.includes("/node_modules/") !== true;
    return url !== undefined && isOurs ? { url, shortCircuit: true } : next(specifier, context);
  },
});
