import type { NoticeChannel, NotifySettings } from "../config/business-profile.ts";
import { PERSON_CHANNEL } from "../contracts/notices.ts";
import { ownAddress } from "../domain/notices/own-address.ts";
import type { Route } from "../store/notices/notice-deliveries.ts";
import type { Notice } from "../store/notices/notices.ts";

/**
 * Returns where a notice for our own people goes: to the person that it is for, else to the channels that take its kind and one of its
 * roles.
 *
 * If no channel listens for these roles, it goes to all that take the kind: a bill that waits for
 * an operator must not wait because no operator gave an address.
 */
export function routesOf(settings: NotifySettings, notice: Notice): Route[] {
  if (notice.person !== null) {
    const target = ownAddress(settings, notice.person);
    if (target !== undefined) return [{ channel: PERSON_CHANNEL, target }];
    // What concerns this person alone is nobody else's.
    if (notice.roles.length === 0) return [];
  }
  const taking = settings.channels.filter(
    ({ kinds }) => kinds === null || kinds.includes(notice.kind),
  );
  const meant = taking.flatMap((channel) => routesOver(channel, notice.roles));
  return meant.length > 0 ? meant : taking.flatMap((channel) => routesOver(channel, []));
}

/** @param roles empty for everyone */
function routesOver(channel: NoticeChannel, roles: readonly string[]): Route[] {
  const isMeant = (role: string) => roles.length === 0 || roles.includes(role);
  if (channel.type === "email") {
    const addresses = Object.entries(channel.addresses)
      .filter(([role]) => isMeant(role))
      .flatMap(([, of]) => of);
    return [...new Set(addresses)].map((target) => ({ channel: channel.name, target }));
  }
  const listens = channel.roles === null || roles.length === 0 || channel.roles.some(isMeant);
  return listens ? [{ channel: channel.name, target: "" }] : [];
}
