import { html } from "../html.ts";
import type { WaitingCancellation } from "../../api/overview.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { section } from "../elements.ts";
import { type Markup, who } from "../words.ts";

/** `1 cancellation ended with exceptions.`; empty if there is none. */
export function cancellationsText({ length }: readonly WaitingCancellation[]): string {
  return length === 0 ? "" : `${counted(length, "cancellation")} ended with exceptions.`;
}

/**
 * Builds the entry of a cancellation that ended with exceptions, for the list of what waits for a
 * person.
 */
export function cancellationItem(cancellation: WaitingCancellation, isShown: boolean): Markup {
  const { id, business, launchedBy, launchedByKind, waitingFor, roles, yours } = cancellation;
  return html`<li>
    <span class="what"
      ><a href="${runPage(id)}">${titleOf(cancellation)}</a>${isShown ? ` (${business})` : ""}
      <span class="under why">Waits for ${waitingFor}</span>
      <span class="under"
        >${yours ? "For you to see to" : `For ${roles.join(" or ")} to see to`}. Asked for by
        ${who(launchedBy, launchedByKind)}.</span
      ></span
    >
  </li>`;
}

/** Builds its section, for the page of what needs action. */
export function cancellationSection(cancellation: WaitingCancellation): Markup {
  const { id, business, launchedBy, launchedByKind, waitingFor, roles } = cancellation;
  return section(
    titleOf(cancellation),
    html`<p>
      Waits for ${waitingFor} It takes the role ${roles.join(" or ")}. Asked for by
      ${who(launchedBy, launchedByKind)}, of ${business}.
      <a href="${runPage(id)}">What happened to each payment</a>
    </p>`,
    `cancellation-${id.replaceAll(/[^\w]+/g, "-")}`,
  );
}

function titleOf({ kind }: WaitingCancellation): string {
  return kind === "hold" ? "Not all was held back" : "Not all was cancelled";
}
