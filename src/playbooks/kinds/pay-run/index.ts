import { playbookKind } from "../kind.ts";
import { checkPayRun } from "./checks.ts";
import { compilePayRun } from "./compile.ts";
import { payRunSchema } from "./schema.ts";
import { warnPayRun } from "./warnings.ts";

/** Pays bills: which ones, when, with whose approval. */
export const payRunKind = playbookKind({
  schema: payRunSchema,
  formerKeys: new Map([["pay.arrive", "`on: arrives-by-due-date`, which is also the default"]]),
  checkTogether: checkPayRun,
  warn: warnPayRun,
  compile: compilePayRun,
});
