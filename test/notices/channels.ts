import type { NoticeChannel, NotifySettings } from "../../src/config/business-profile.ts";
import type { Store } from "../../src/store/index.ts";
import { deliveriesOf } from "../../src/store/notices/notice-deliveries.ts";
import { listNotices } from "../../src/store/notices/notices.ts";

export const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;
export const FROM = "Payrun <payrun@acme.example>";

/** Returns settings with one webhook channel, which takes every notice by default. */
export function webhook(url: string, changes: Partial<NoticeChannel> = {}): NotifySettings {
  const channel = {
    name: "ops",
    type: "webhook",
    url,
    secrets: [SECRET],
    roles: null,
    kinds: null,
  };
  return { channels: [{ ...channel, ...changes } as NoticeChannel] };
}

/** Returns the state of each delivery and its number of tries, such as `sent 1` or `pending 2`. */
export async function states(store: Store): Promise<string[]> {
  const notices = await listNotices(store.db, { limit: 100 });
  const byNotice = await deliveriesOf(
    store.db,
    notices.map(({ noticeId }) => noticeId),
  );
  return [...byNotice.values()].flat().map(({ state, tries }) => `${state} ${tries}`);
}
