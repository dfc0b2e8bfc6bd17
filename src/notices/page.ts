import { NEEDS_ACTION_PAGE, runPage } from "../contracts/console-pages.ts";
import type { Notice } from "../store/notices/notices.ts";

/** About what a person decides on the page of all that needs action. */
const DECIDED_THERE: readonly Notice["kind"][] = ["incident", "parked", "given-up"];

/**
 * Address of the console's page on which people decide about it, or look at it. It carries no
 * authority: who opens it signs in. Undefined for what has no page, and for vendors.
 */
export function pageAbout(
  { kind, runId, contactId }: Pick<Notice, "kind" | "runId" | "contactId">,
  publicUrl: string,
): string | undefined {
  if (contactId !== null) return undefined;
  if (DECIDED_THERE.includes(kind)) return `${publicUrl}${NEEDS_ACTION_PAGE}`;
  if (kind === "digest") return `${publicUrl}/`;
  return runId === null ? undefined : `${publicUrl}${runPage(runId)}`;
}
