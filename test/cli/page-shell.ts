import { shellFunction } from "../support/docs.ts";
import { MAIN } from "./cli.ts";

/** Returns what a shell reads first, so that `payrun` is what README defines. */
export function shellBeginning(): string {
  return `npx() { shift; "${process.execPath}" --disable-warning=ExperimentalWarning "${MAIN}" "$@"; }
${shellFunction()}
`;
}
