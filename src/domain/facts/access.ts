import { any, fact, news, notice, text, texts, whole } from "./fact.ts";

const name = text;
const businesses = texts.nullable();

export const tokenCreated = fact("token.created", {
  name,
  roles: texts,
  businesses,
  expiresAtMs: whole,
  secret: text,
});
export const tokenConfirmed = fact("token.confirmed", { name });
export const tokenRenewed = fact("token.renewed", { name, secret: text });
export const tokenRevoked = fact("token.revoked", { name });
export const tokenUsed = fact("token.used", { name, from: text });

/** Its subject is the token, or the identity, that the link stands for. */
export const linkMade = fact("session.link-made", { way: text, code: text, expiresAtMs: whole });
export const sessionOpened = fact("session.opened", {
  way: text,
  from: text,
  expiresAtMs: whole,
  secret: text,
  tokenId: text.optional(),
  issuer: text.nullish(),
  subject: text.nullish(),
  businesses: businesses.optional(),
});
export const sessionUsed = fact("session.used", { name, from: text });
export const sessionEnded = fact("session.ended", { name });

/** A token, or a session that stands for one, was used from an address never seen before. */
export const usedFromElsewhere = news(
  notice(
    "token-used",
    (used: Readonly<Record<"tokenId" | "name" | "principal" | "address" | "at", string>>) => {
      const { tokenId, name: holder, address, at, principal } = used;
      return {
        factKey: `${tokenId}/${address}`,
        subject: `A Payrun token of ${holder} was used from a new address`,
        text: [
          `${at}: a token of ${holder} was used from ${address}, from which none of theirs was used before.`,
          "If that was not you, ask an administrator to revoke it at once.",
          `Revoke it with: payrun token revoke ${tokenId}`,
        ].join("\n"),
        person: principal,
        roles: [],
        data: { tokenId, name: holder, address },
      };
    },
  ),
);

const refused = { request: text, times: whole };

export const requestUnauthorized = fact("request.unauthorized", {
  ...refused,
  why: text,
  token: text,
});
export const requestRefused = fact("request.refused", {
  ...refused,
  roles: texts,
  businesses: businesses.optional(),
});
export const webhookRefused = fact("webhook.refused", { why: text, times: whole });

/** Whoever can write the profile's file has changed it; never with a secret. */
export const profileChanged = fact("profile.changed", { changed: texts, values: any });
