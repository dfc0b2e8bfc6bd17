import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { compilePayRun } from "../../src/playbooks/kinds/pay-run/compile.ts";
import { payRunSchema } from "../../src/playbooks/kinds/pay-run/schema.ts";

/** Returns a compiled pay run of all bills, of which none is flagged, with these changes. */
export function payRunPlaybook(changes: Partial<PayRunPlaybook> = {}): PayRunPlaybook {
  const written = {
    kind: "pay-run",
    select: { due: "all" },
    review: [],
    approve: [{ by: ["controller"] }],
  };
  return { ...compilePayRun("weekly", payRunSchema.parse(written)), ...changes };
}
