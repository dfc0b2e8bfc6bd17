import type { Playbook } from "../../contracts/playbook.ts";
import { suggest } from "../../domain/suggest.ts";
import { cancelScheduledKind } from "./cancel-scheduled/index.ts";
import { holdKind } from "./hold/index.ts";
import type { PlaybookKind } from "./kind.ts";
import { kybOnboardingKind } from "./kyb-onboarding/index.ts";
import { payRunKind } from "./pay-run/index.ts";
import { retryFailedKind } from "./retry-failed/index.ts";

/** Every kind of playbook, by what its author writes after `kind:`. */
export const PLAYBOOK_KINDS: Readonly<Record<Playbook["kind"], PlaybookKind>> = {
  "pay-run": payRunKind,
  "retry-failed": retryFailedKind,
  "kyb-onboarding": kybOnboardingKind,
  hold: holdKind,
  "cancel-scheduled": cancelScheduledKind,
};

/**
 * Returns the kind by which a text is read: the kind that it names, otherwise the likeliest one, so
 * that its other mistakes can be reported together with the first.
 */
export function kindWritten(written: unknown): Playbook["kind"] {
  const value =
    typeof written === "object" && written !== null && "kind" in written ? written.kind : undefined;
  const names = Object.keys(PLAYBOOK_KINDS) as Playbook["kind"][];
  const named = names.find((name) => name === value);
  const meant = typeof value === "string" ? suggest(value, names) : undefined;
  return named ?? names.find((name) => name === meant) ?? "pay-run";
}
