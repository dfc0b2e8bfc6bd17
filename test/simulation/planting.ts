import type { Plant } from "./plants/plant.ts";

const MAKE = Symbol.for("payrun.simulation.plant");

/** Returns the source of a module with one export replaced. @throws if there is no such export */
export function planted(source: string, plant: Plant): string {
  const { name, file, replaces } = plant;
  const declared = new RegExp(`^export (async function|function|class|const) ${replaces}\\b`, "m");
  const kind = declared.exec(source)?.[1];
  if (kind === undefined) throw new Error(`plant ${name}: ${file} exports no ${replaces}`);
  const real = source
    .replace(declared, `${kind} real_${replaces}`)
    // Within its own module the class is used under its new name.
    .replace(new RegExp(`\\bnew ${replaces}\\b`, "g"), `new real_${replaces}`);
  Object.assign(globalThis, { [MAKE]: plant.make });
  const made = `globalThis[Symbol.for("payrun.simulation.plant")](real_${replaces})`;
  const replacement =
    kind === "class" || kind === "const"
      ? `export const ${replaces} = ${made};`
      : `export function ${replaces}(...given: any[]): any { return ${made}(...given); }`;
  return `${real}\n${replacement}\n`;
}
