import { html } from "./html.ts";
import { type HoldView, HoldListBody } from "../api/holds.ts";
import { accountName } from "../domain/names.ts";
import { Api } from "./api.ts";
import { note } from "./elements.ts";
import type { Visitor } from "./visitor.ts";
import { type Markup, when, who, wholeNumber } from "./words.ts";

/** Most holds to read; a second page would only repeat what the first says. */
const HOLDS = "100";
/** Most businesses that a banner names; above that it gives their number. */
const NAMED = 4;

/** Returns what each page shows first: that everything is on hold, or which accounts are. */
export async function bannersFor(visitor: Visitor): Promise<Markup> {
  const api = new Api(visitor);
  const [all, sources] = await Promise.all(
    ["all", "source"].map((scope) =>
      api.get(HoldListBody, "/v1/holds", { query: { scope, pageSize: HOLDS } }),
    ),
  );
  const stops = [...Map.groupBy(all?.items ?? [], stopOf).values()];
  return html`${stops.map((holds) => banner(holds, `Everything is on hold${inWhich(holds, visitor)}`, visitor))}
  ${(sources?.items ?? []).map((hold) => banner([hold], `The account ${accountName(hold.value, hold)} is on hold${inWhich([hold], visitor)}`, visitor))}`;
}

/**
 * Returns the key by which banners are grouped: a stop of several businesses sets a hold in each.
 */
function stopOf({ reason, author, createdAt, until }: HoldView): string {
  const minute = createdAt.slice(0, "2026-11-27T09:00".length);
  return JSON.stringify([reason, author, minute, until]);
}

function inWhich(holds: readonly HoldView[], { businesses }: Visitor): string {
  if (businesses.length < 2) return "";
  if (holds.length === businesses.length) return ` in all ${wholeNumber(holds.length)} businesses`;
  if (holds.length > NAMED) return ` in ${wholeNumber(holds.length)} businesses`;
  return ` (${holds.map(({ business }) => business).join(", ")})`;
}

function banner(holds: readonly HoldView[], title: string, { zoneOf }: Visitor): Markup | "" {
  const [first] = holds;
  if (first === undefined) return "";
  const { reason, author, authorKind, createdAt, until, business } = first;
  const zone = zoneOf(business);
  return note(
    "stop",
    html`<p>
      ${reason} — ${who(author, authorKind)}, since
      ${when(createdAt, zone)}${until === null ? "" : html`, until ${when(until, zone)}`}.
      <a href="/holds">Holds</a>
    </p>`,
    title,
  );
}
