import type { BusinessProfile } from "../config/business-profile.ts";
import { PaymentsApiError } from "../payments-api/index.ts";
import { postponeRouting, type Route, routeNotice } from "../store/notices/notice-deliveries.ts";
import type { Notice } from "../store/notices/notices.ts";
import { codeOf, nextRouteMs } from "./results.ts";
import { VENDOR_CHANNEL } from "../contracts/notices.ts";
import { routesOf } from "./routes.ts";
import type { NoticeSenderContext } from "./sender.ts";

/** The limit of RFC 5321. */
const ADDRESS_MAX = 254;

type Destination =
  | { readonly kind: "routes"; readonly routes: readonly Route[]; readonly problem: string | null }
  | { readonly kind: "later"; readonly problem: string };

/**
 * Turns a notice into deliveries, by the profile as it is now.
 *
 * @param stopping breaks a lookup off; the notice then stays as it was
 */
export async function route(
  context: NoticeSenderContext,
  notice: Notice,
  stopping?: AbortSignal,
): Promise<void> {
  const { store, profiles, log, nowMs } = context;
  const { noticeId, businessId, kind, routeTries } = notice;
  const profile = profiles.byBusinessId(businessId);
  const found = await destinationOf(context, profile, notice, stopping);
  if (stopping?.aborted === true) return;
  const againAtMs = found.kind === "later" ? nextRouteMs(routeTries, nowMs()) : null;
  if (found.problem !== null) {
    const fields = { businessId, noticeId, kind, problem: found.problem };
    log.warn("a notice does not reach everyone", fields);
  }
  if (found.kind === "later" && againAtMs !== null) {
    await postponeRouting(store.db, noticeId, found.problem, againAtMs);
    return;
  }
  const routes = found.kind === "routes" ? found.routes : [];
  await store.transactionOf(businessId, (trx) =>
    routeNotice(trx, notice, routes, found.problem, nowMs()),
  );
}

async function destinationOf(
  context: NoticeSenderContext,
  profile: BusinessProfile | undefined,
  notice: Notice,
  stopping: AbortSignal | undefined,
): Promise<Destination> {
  const settings = profile?.notify;
  if (notice.contactId !== null) {
    return settings?.smtp === undefined || profile === undefined
      ? routes([], "remittance advice needs notify.smtp in the profile")
      : vendorRoutes(context.clientOf(profile), notice.contactId, stopping);
  }
  // A business that names no channel wants no notices; that is no fault.
  if (settings === undefined) return routes([]);
  return routes(routesOf(settings, notice));
}

/**
 * Reads the vendor's addresses as they are now: by today an old one may belong to another person.
 */
async function vendorRoutes(
  client: ReturnType<NoticeSenderContext["clientOf"]>,
  contactId: string,
  signal: AbortSignal | undefined,
): Promise<Destination> {
  try {
    const { emails } = await client.contacts.get(contactId, { signal });
    const known = [...new Set(emails.map((email) => email.trim()))].filter((email) => email !== "");
    const usable = known.filter(isAddress);
    const unusable = known.length - usable.length;
    // A vendor without an address at the service doesn't want to be written to: that is no fault.
    return routes(
      usable.map((target) => ({ channel: VENDOR_CHANNEL, target })),
      unusable === 0
        ? null
        : `${unusable} of the vendor's ${known.length} addresses ${unusable === 1 ? "is not an e-mail address" : "are not e-mail addresses"}`,
    );
  } catch (error) {
    if (error instanceof PaymentsApiError && error.status === 404) {
      return routes([], "the service no longer knows the vendor");
    }
    const why = error instanceof PaymentsApiError ? error.code : codeOf(error);
    return { kind: "later", problem: `the vendor's addresses can't be read (${why})` };
  }
}

function isAddress(text: string): boolean {
  const part = String.raw`[^\p{C}\s<>,;:"()[\]\\@]+`;
  return text.length <= ADDRESS_MAX && new RegExp(`^${part}@${part}$`, "u").test(text);
}

function routes(to: readonly Route[], problem: string | null = null): Destination {
  return { kind: "routes", routes: to, problem };
}
