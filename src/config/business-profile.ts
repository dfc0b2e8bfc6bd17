import { Temporal } from "temporal-polyfill";
import { z } from "zod";

import { IDENTITY_KEYS, identitiesShape, type Identity } from "./identities.ts";
import {
  NOTIFY_KEYS,
  type NotifySettings,
  notifyShape,
  toNotifySettings,
} from "./notify-settings.ts";
import { crossesInTheClear } from "./plaintext.ts";
import { flag, httpUrl, secretList } from "./setting-values.ts";
import { type SignInSettings, SIGN_IN_KEYS, signInShape, toSignIn } from "./sign-in.ts";
import { type Signer, SIGNER_KEYS, signersShape } from "./signers.ts";

export type { NoticeChannel, NotifySettings, SmtpSettings } from "./notify-settings.ts";
export type { IdentityProvider } from "./sign-in.ts";

/** Where a business's token for the Payments Service comes from; a file or command is asked anew. */
export type TokenSource =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly command: string };

/** A person's acceptance of the ACH debit authorization; the engine never makes one up. */
export interface AchAuthorization {
  readonly acceptedBy: string;
  /** ISO 8601 date or instant, as the profile says it. */
  readonly acceptedAt: string;
}

/** One business that Payrun pays for, and how its Payments Service is reached. */
export interface BusinessProfile {
  /** What playbooks, commands and webhook addresses call it. */
  readonly name: string;
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly businessId: string;
  readonly token: TokenSource;
  /** Newest first or not: any of them verifies a webhook. Empty: webhooks are refused. */
  readonly webhookSecrets: readonly string[];
  readonly achAuthorization?: AchAuthorization;
  /** Keys of systems that decide on its runs; none where it is missing. */
  readonly signers?: readonly Signer[];
  /** People whom the company's own provider vouches for; none where it is missing. */
  readonly identities?: readonly Identity[];
  /** How people sign in at the console, and how recently; by links alone where it is missing. */
  readonly signIn?: SignInSettings;
  /** In which people are told times, an IANA name; New York's where it is missing. */
  readonly zone?: string;
  /** True: clocks are read from the sandbox at `apiUrl`. */
  readonly sandbox: boolean;
  /** True: whoever launches a run or writes its playbook may approve it; every report says so. */
  readonly singlePerson?: boolean;
  /** True: what one person applies is in force once a second one has confirmed it. */
  readonly fourEyes?: boolean;
  /** Whom to tell, and over what; nobody where it is missing. */
  readonly notify?: NotifySettings;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why a business can't be called this, or undefined where it can. */
export function businessNameProblem(name: string): string | undefined {
  return NAME.test(name)
    ? undefined
    : "a business's name is letters, digits, dots, dashes and underscores, at most 64";
}

const word = z.string("must be text (put it in quotes)").trim().min(1, "must not be empty");

const acceptedAt = word.refine(
  isDateOrInstant,
  "must be a date (2026-01-31) or an instant (2026-01-31T15:00:00Z)",
);

function isDateOrInstant(value: string): boolean {
  const readers = [
    (text: string) => Temporal.PlainDate.from(text),
    (text: string) => Temporal.Instant.from(text),
  ];
  return readers.some((read) => {
    try {
      read(value);
      return true;
    } catch {
      return false;
    }
  });
}

const zone = word.refine(isZone, "must be a time zone such as America/New_York or UTC");

function isZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: value }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const achAuthorization = z.strictObject({ acceptedBy: word, acceptedAt });

/** A business as it is written: `token` has become a source before this is asked. */
export const businessShape = z
  .strictObject({
    apiUrl: word.pipe(httpUrl),
    businessId: word,
    token: z.custom<TokenSource>().optional(),
    tokenCommand: word.optional(),
    webhookSecrets: z
      .union([word.pipe(secretList), z.array(word)], "must be a secret or a list of secrets")
      .optional(),
    achAuthorization: achAuthorization.optional(),
    zone: zone.optional(),
    signers: signersShape.optional(),
    identities: identitiesShape.optional(),
    signIn: signInShape.optional(),
    sandbox: z.union([z.boolean(), word.pipe(flag)], "must be true or false").optional(),
    fourEyes: z.union([z.boolean(), word.pipe(flag)], "must be true or false").optional(),
    approvals: z.literal("single-person", "can only be single-person").optional(),
    notify: notifyShape.optional(),
  })
  .superRefine((value, context) => {
    // The token would cross a network in the clear otherwise.
    if (!value.sandbox && crossesInTheClear(value.apiUrl)) {
      const message = "must be https:// (http:// is for this machine, or where sandbox is true)";
      context.addIssue({ code: "custom", path: ["apiUrl"], message });
    }
  });

/** What can be said of a business, for telling which key a mistyped one was meant to be. */
export const BUSINESS_KEYS = [
  ...Object.keys(businessShape.shape),
  "acceptedBy",
  "acceptedAt",
  ...SIGNER_KEYS,
  ...IDENTITY_KEYS,
  ...SIGN_IN_KEYS,
  ...NOTIFY_KEYS,
];

/** Builds the profile from what `businessShape` has accepted. */
export function toBusinessProfile(
  name: string,
  shape: z.output<typeof businessShape>,
): BusinessProfile {
  const token: TokenSource = shape.token ?? {
    kind: "command",
    command: shape.tokenCommand ?? "",
  };
  return {
    name,
    apiUrl: shape.apiUrl,
    businessId: shape.businessId,
    token,
    webhookSecrets: shape.webhookSecrets ?? [],
    ...(shape.achAuthorization ? { achAuthorization: shape.achAuthorization } : {}),
    ...(shape.zone === undefined ? {} : { zone: shape.zone }),
    ...(shape.signers ? { signers: shape.signers } : {}),
    ...(shape.identities ? { identities: shape.identities } : {}),
    ...(shape.signIn ? { signIn: toSignIn(shape.signIn) } : {}),
    sandbox: shape.sandbox ?? false,
    ...(shape.approvals === "single-person" ? { singlePerson: true } : {}),
    ...(shape.fourEyes === true ? { fourEyes: true } : {}),
    ...(shape.notify ? { notify: toNotifySettings(shape.notify) } : {}),
  };
}
