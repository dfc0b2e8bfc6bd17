import { createHash } from "node:crypto";
import type { BusinessProfile, NotifySettings } from "../config/business-profile.ts";
import type { Profiles } from "../config/profiles.ts";
import { type NotedProfile, noteProfile } from "../store/facts/noted-profiles.ts";
import type { Store } from "../store/index.ts";
import { reasonOf, repeat, type Repeated } from "./repeat.ts";

const LOOK_EVERY_MS = 1_000;

interface Watching {
  readonly store: Store;
  readonly profiles: Pick<Profiles, "takeRead">;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Notes in each business's trail, within a second of reading it, what its profile says about who
 * may decide, how much, and who is told: each reading of the file, also of one that was changed
 * back at once.
 */
export function watchProfiles({ store, profiles, log }: Watching): Repeated {
  const waiting: BusinessProfile[] = [];
  /** The entry of each business's last reading. */
  const noted = new Map<string, number>();
  return repeat(
    async () => {
      waiting.push(...profiles.takeRead());
      for (let [profile] = waiting; profile !== undefined; [profile] = waiting) {
        const { businessId, name } = profile;
        const values = notedOf(profile);
        const times = { since: noted.get(name) ?? null, nowMs: Date.now() };
        const entry = await store.transactionOf(businessId, (trx) =>
          noteProfile(trx, { businessId, name }, values, times),
        );
        noted.set(name, entry);
        waiting.shift();
      }
      return LOOK_EVERY_MS;
    },
    (error) => {
      const reason = reasonOf(error);
      log.warn("a changed profile could not be noted; trying again in a second", { reason });
      return LOOK_EVERY_MS;
    },
  );
}

function notedOf(profile: BusinessProfile): NotedProfile {
  const { limits, signers, identities, notify, achAuthorization, signIn } = profile;
  const { sandbox, fourEyes = false, singlePerson = false } = profile;
  return {
    limits,
    signers,
    identities,
    achAuthorization,
    sandbox,
    fourEyes,
    singlePerson,
    freshSignInOverCents: signIn?.freshOverCents,
    identityProvider: signIn?.provider?.issuer,
    notify: notify === undefined ? undefined : notifiedOf(notify),
  };
}

/**
 * Returns the channels, and a fingerprint of where they lead: addresses are personal, and some are
 * secrets. Passwords and signing secrets are not in it.
 */
function notifiedOf({ smtp, channels, people = {} }: NotifySettings) {
  const targets = channels.map((channel) =>
    channel.type === "email" ? channel.addresses : channel.url,
  );
  const leads = { smtp: smtp === undefined ? null : withoutPassword(smtp.url), targets, people };
  return {
    channels: channels.map(({ name, type, roles, kinds }) => ({ name, type, roles, kinds })),
    people: Object.keys(people),
    leadsTo: createHash("sha256").update(JSON.stringify(leads)).digest("hex"),
  };
}

function withoutPassword(url: string): string {
  const bare = new URL(url);
  bare.password = "";
  return bare.href;
}
