import type { BusinessProfile, NoticeChannel } from "../config/business-profile.ts";
import type { NoticeDelivery } from "../store/notices/notice-deliveries.ts";
import type { Notice } from "../store/notices/notices.ts";
import type { Mailer } from "./mail.ts";
import { type About, emailOf, slackMessage, webhookPayload } from "./messages.ts";
import type { Poster } from "./post.ts";
import type { TryResult } from "./results.ts";
import { PERSON_CHANNEL, VENDOR_CHANNEL } from "../contracts/notices.ts";
import { NEEDS_ACTION_PAGE, runPage } from "../contracts/console-pages.ts";

/** Kinds of notices that a person decides about on the page of everything that needs action. */
const DECIDED_THERE: readonly Notice["kind"][] = ["incident", "parked", "given-up"];

/** The channels that no profile describes. */
const BY_MAIL: readonly string[] = [VENDOR_CHANNEL, PERSON_CHANNEL];

/**
 * Returns the address of the console's page on which people decide about a notice's subject, or
 * look at it. The address carries no authority: a person who opens it signs in. Undefined for
 * notices without a page, and for vendors.
 */
function pageAbout(
  { kind, runId, contactId }: Pick<Notice, "kind" | "runId" | "contactId">,
  publicUrl: string,
): string | undefined {
  if (contactId !== null) return undefined;
  if (DECIDED_THERE.includes(kind)) return `${publicUrl}${NEEDS_ACTION_PAGE}`;
  if (kind === "digest") return `${publicUrl}/`;
  return runId === null ? undefined : `${publicUrl}${runPage(runId)}`;
}

export interface Carriers {
  readonly poster: Poster;
  readonly mailer: Mailer;
}

/** Tries one delivery once, over the channel as the profile has it now. */
export async function deliver(
  carriers: Carriers,
  profile: BusinessProfile | undefined,
  notice: Notice,
  delivery: NoticeDelivery,
  { nowMs, publicUrl }: { readonly nowMs: number; readonly publicUrl: string },
): Promise<TryResult> {
  const settings = profile?.notify;
  if (profile === undefined || settings === undefined) {
    return refused("its business notifies nobody any more: notify is missing in the profile");
  }
  const { smtp } = settings;
  const about = { business: profile.name, page: pageAbout(notice, publicUrl) };
  const channel = settings.channels.find(({ name }) => name === delivery.channel);
  if (BY_MAIL.includes(delivery.channel) || channel?.type === "email") {
    if (smtp === undefined) return refused("notify.smtp is missing in the profile");
    const email = emailOf(notice, about, smtp.from);
    return carriers.mailer.send(smtp, delivery.target, email);
  }
  return channel === undefined
    ? refused(`the profile has no channel ${delivery.channel} any more`)
    : post(carriers.poster, channel, notice, about, nowMs);
}

async function post(
  poster: Poster,
  channel: Exclude<NoticeChannel, { type: "email" }>,
  notice: Notice,
  about: About,
  nowMs: number,
): Promise<TryResult> {
  if (channel.type === "slack") {
    return poster.post(channel.url, JSON.stringify(slackMessage(notice, about)));
  }
  const { secrets } = channel;
  const body = JSON.stringify(webhookPayload(notice, about));
  return poster.post(channel.url, body, { id: notice.noticeId, secrets, nowMs });
}

function refused(problem: string): TryResult {
  return { kind: "refused", problem };
}
