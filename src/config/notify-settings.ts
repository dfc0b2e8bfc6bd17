import { z } from "zod";
import { definedOnly } from "../contracts/defined-only.ts";
import { NOTICE_KINDS, PERSON_CHANNEL, VENDOR_CHANNEL } from "../contracts/notices.ts";
import { nearest } from "./nearest.ts";
import { personName } from "./signers.ts";

/** The people that a business notifies, and the channels. */
export interface NotifySettings {
  /** How e-mail is sent; needed for e-mail channels and for remittance advice. */
  readonly smtp?: SmtpSettings;
  readonly channels: readonly NoticeChannel[];
  /** People's own addresses, by name: for their sign-in links, and for what concerns them alone. */
  readonly people?: Readonly<Record<string, string>>;
}

export interface SmtpSettings {
  /** `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…`. */
  readonly url: string;
  readonly from: string;
}

interface ChannelBase {
  readonly name: string;
  /** Only notices that concern one of these roles; null for all. */
  readonly roles: readonly string[] | null;
  /** Only notices of these kinds; null for all. */
  readonly kinds: readonly string[] | null;
}

/** One way to notify people. */
export type NoticeChannel =
  | (ChannelBase & {
      readonly type: "webhook";
      readonly url: string;
      /** `whsec_…`; several while one is being rotated, each of which signs. */
      readonly secrets: readonly string[];
    })
  | (ChannelBase & { readonly type: "slack"; readonly url: string })
  | (ChannelBase & {
      readonly type: "email";
      /** Addresses by role. */
      readonly addresses: Readonly<Record<string, readonly string[]>>;
    });

const word = z.string("must be text (put it in quotes)").trim().min(1, "must not be empty");

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const name = word.regex(NAME, "must be lower-case letters, digits and hyphens, at most 32");
const names = z.union([name, z.array(name).min(1, "names nothing")], "must be a list of words");

const kind = word.refine((text) => NOTICE_KINDS.some((known) => known === text), {
  error: ({ input }) => {
    const meant = nearest(String(input), NOTICE_KINDS);
    return `must be kinds of notices to your own people: ${NOTICE_KINDS.join(", ")}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  },
});

const address = word.pipe(
  z.email("must be an e-mail address, such as controller@acme.example").max(254, "is too long"),
);
const addresses = z.union(
  [address, z.array(address).min(1, "names nobody").max(20, "names more than 20 addresses")],
  "must be an e-mail address or a list of them",
);

const target = word.refine(
  isTarget,
  "must be an https:// address without a user in it (http:// only for this machine)",
);

/** Without this, notices would cross a network in the clear. */
function isTarget(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLocal(url.hostname));
}

function isLocal(hostname: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const secret = word.refine(
  isSecret,
  `must be whsec_ and ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes in base64 (Standard Webhooks)`,
);

function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  if (encoded === undefined) return false;
  const { length } = Buffer.from(encoded, "base64");
  return length >= SECRET_BYTES_MIN && length <= SECRET_BYTES_MAX;
}

const channel = z
  .strictObject({
    webhook: target.optional(),
    secret: z
      .union([secret, z.array(secret).min(1, "must be a secret")], "must be a secret or a list")
      .optional(),
    slack: target.optional(),
    email: z.record(name, addresses).optional(),
    roles: names.optional(),
    kinds: z.union([kind, z.array(kind).min(1, "names nothing")], {}).optional(),
  })
  .superRefine((value, context) => {
    const ways = [value.webhook, value.slack, value.email].filter((way) => way !== undefined);
    if (ways.length !== 1) {
      context.addIssue({ code: "custom", message: "needs exactly one of webhook, slack, email" });
    }
    if ((value.webhook === undefined) !== (value.secret === undefined)) {
      const message =
        value.secret === undefined
          ? "is needed with webhook: receivers know by it that a notice is yours"
          : "goes with webhook only";
      context.addIssue({ code: "custom", path: ["secret"], message });
    }
    if (value.email !== undefined && value.roles !== undefined) {
      const message = "can't be set with email, which names its roles itself";
      context.addIssue({ code: "custom", path: ["roles"], message });
    }
  });

const smtp = z.strictObject({
  url: word.refine(
    isSmtpUrl,
    "must be smtp://USER:PASSWORD@HOST:PORT or smtps://…, special characters percent-encoded",
  ),
  from: word.refine(
    (text) => /^[^\r\n<>]*<[^<>\s@]+@[^<>\s@]+>$|^[^<>\s@]+@[^<>\s@]+$/.test(text),
    "must be an e-mail address, or a name and <an address>",
  ),
});

function isSmtpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["smtp:", "smtps:"].includes(url.protocol) && url.hostname !== "";
}

/** What the channels that no profile describes are for. */
const OWN_CHANNELS: Readonly<Record<string, string>> = {
  [VENDOR_CHANNEL]: "remittance advice",
  [PERSON_CHANNEL]: "what concerns one person",
};

/** `notify:` of a business as it is written. */
export const notifyShape = z
  .strictObject({
    smtp: smtp.optional(),
    channels: z.record(name, channel).optional(),
    people: z.record(personName, address, "must be NAME: ADDRESS, one for each person").optional(),
  })
  .superRefine((value, context) => {
    if (value.people !== undefined && value.smtp === undefined) {
      const message = "needs notify.smtp: { url, from }";
      context.addIssue({ code: "custom", path: ["people"], message });
    }
    for (const [key, { email }] of Object.entries(value.channels ?? {})) {
      const path = ["channels", key];
      const own = OWN_CHANNELS[key];
      if (own !== undefined) {
        const message = `“${key}” is the one for ${own}: choose another name`;
        context.addIssue({ code: "custom", path, message });
      }
      if (email !== undefined && value.smtp === undefined) {
        const message = "needs notify.smtp: { url, from } (PAYMENTS_NOTIFY_SMTP_URL and …_FROM)";
        context.addIssue({ code: "custom", path: [...path, "email"], message });
      }
    }
  });

/** The keys under `notify`, used to suggest the one meant by a mistyped key. */
export const NOTIFY_KEYS: readonly string[] = [
  ...Object.keys(notifyShape.shape),
  ...Object.keys(channel.shape),
  ...Object.keys(smtp.shape),
];

/** Builds the settings from what `notifyShape` has accepted. */
export function toNotifySettings(shape: z.output<typeof notifyShape>): NotifySettings {
  return {
    ...definedOnly({ smtp: shape.smtp }),
    channels: Object.entries(shape.channels ?? {}).flatMap(([key, value]) => toChannel(key, value)),
    ...definedOnly({ people: shape.people }),
  };
}

function toChannel(key: string, value: z.output<typeof channel>): NoticeChannel[] {
  const base = { name: key, roles: listOrNull(value.roles), kinds: listOrNull(value.kinds) };
  if (value.webhook !== undefined) {
    return [{ ...base, type: "webhook", url: value.webhook, secrets: listOf(value.secret ?? []) }];
  }
  if (value.slack !== undefined) return [{ ...base, type: "slack", url: value.slack }];
  if (value.email === undefined) return [];
  const byRole = Object.entries(value.email).map(([role, of]) => [role, listOf(of)] as const);
  return [{ ...base, type: "email", addresses: Object.fromEntries(byRole) }];
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value;
}

function listOrNull(value: string | readonly string[] | undefined): readonly string[] | null {
  return value === undefined ? null : listOf(value);
}
