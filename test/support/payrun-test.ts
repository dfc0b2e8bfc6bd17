import { test } from "vitest";
import { type PayrunOptions, startPayrun } from "./payrun.ts";

/** Tests that share the whole Payrun of their file, which starts before the first that uses it. */
export function payrunTest(options: PayrunOptions = {}) {
  return test
    .extend("options", { scope: "file" }, options)
    .extend("payrun", { scope: "file" }, async ({ options: given }, { onCleanup }) => {
      const payrun = await startPayrun(given);
      onCleanup(() => payrun.stop());
      return payrun;
    });
}
