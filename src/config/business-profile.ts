import { Temporal } from "temporal-polyfill";
import { z } from "zod";

import { definedOnly } from "../contracts/defined-only.ts";
import type { PayLimits } from "../contracts/playbook.ts";
import { IDENTITY_KEYS, identitiesShape, type Identity } from "./identities.ts";
import {
  NOTIFY_KEYS,
  type NotifySettings,
  notifyShape,
  toNotifySettings,
} from "./notify-settings.ts";
import { crossesInTheClear } from "./plaintext.ts";
import { dollars, flagSetting, httpUrl, secretList } from "./setting-values.ts";
import { type SignInSettings, SIGN_IN_KEYS, signInShape, toSignIn } from "./sign-in.ts";
import { type Signer, SIGNER_KEYS, signersShape } from "./signers.ts";

export type { NoticeChannel, NotifySettings, SmtpSettings } from "./notify-settings.ts";
export type { IdentityProvider } from "./sign-in.ts";

/** The source of a business's token for the Payments Service; files and commands are read again. */
export type TokenSetting =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly command: string };

/** A person's acceptance of the ACH debit authorization; the engine never invents one. */
export interface AchAuthorization {
  readonly acceptedBy: string;
  /** ISO 8601 date or instant, as written in the profile. */
  readonly acceptedAt: string;
}

/** One business that Payrun pays for, and how to reach its Payments Service. */
export interface BusinessProfile {
  /** The business's name in playbooks, commands and webhook addresses. */
  readonly name: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly businessId: string;
  readonly token: TokenSetting;
  /** In any order: any of them verifies a webhook. If empty, webhooks are refused. */
  readonly webhookSecrets: readonly string[];
  readonly achAuthorization?: AchAuthorization;
  /** Keys of systems that decide on its runs; none if missing. */
  readonly signers?: readonly Signer[];
  /** People vouched for by the company's own identity provider; none if missing. */
  readonly identities?: readonly Identity[];
  /** How people sign in at the console, and how recently; by links alone if missing. */
  readonly signIn?: SignInSettings;
  /** The time zone for people, an IANA name; New York's if missing. */
  readonly zone?: string;
  /** True if clocks are read from the sandbox at `apiUrl`. */
  readonly sandbox: boolean;
  /** True if a run's launcher or its playbook's author may approve it; every report says so. */
  readonly singlePerson?: boolean;
  /** True if an applied playbook takes effect only after a second person confirms it. */
  readonly fourEyes?: boolean;
  /** Limits for the whole business, which a playbook can only make stricter; none if missing. */
  readonly limits?: PayLimits;
  /** The people to notify, and the channels; no notices if missing. */
  readonly notify?: NotifySettings;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns why a business can't have this name; undefined if it can. */
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

const limit = dollars.refine((cents) => cents > 0, "must be more than $0").optional();

const limits = z.strictObject({ bill: limit, vendorPerWeek: limit, businessPerWeek: limit });

const achAuthorization = z.strictObject({ acceptedBy: word, acceptedAt });

/** A business as it is written; `token` has already been replaced by a source. */
export const businessShape = z
  .strictObject({
    apiUrl: word.pipe(httpUrl),
    businessId: word,
    token: z.custom<TokenSetting>().optional(),
    tokenCommand: word.optional(),
    webhookSecrets: z
      .union([word.pipe(secretList), z.array(word)], "must be a secret or a list of secrets")
      .optional(),
    achAuthorization: achAuthorization.optional(),
    zone: zone.optional(),
    signers: signersShape.optional(),
    identities: identitiesShape.optional(),
    signIn: signInShape.optional(),
    sandbox: z.union([z.boolean(), word.pipe(flagSetting)], "must be true or false").optional(),
    fourEyes: z.union([z.boolean(), word.pipe(flagSetting)], "must be true or false").optional(),
    approvals: z.literal("single-person", "can only be single-person").optional(),
    limits: limits.optional(),
    notify: notifyShape.optional(),
  })
  .superRefine((value, context) => {
    // Without this, the token would cross a network in the clear.
    if (!value.sandbox && crossesInTheClear(value.apiUrl)) {
      const message = "must be https:// (http:// only on this machine, or if sandbox is true)";
      context.addIssue({ code: "custom", path: ["apiUrl"], message });
    }
  });

/** The keys of a business, used to suggest the one meant by a mistyped key. */
export const BUSINESS_KEYS = [
  ...Object.keys(businessShape.shape),
  "acceptedBy",
  "acceptedAt",
  ...Object.keys(limits.shape),
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
  const token: TokenSetting = shape.token ?? {
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
    ...definedOnly({ zone: shape.zone }),
    ...(shape.signers ? { signers: shape.signers } : {}),
    ...(shape.identities ? { identities: shape.identities } : {}),
    ...(shape.signIn ? { signIn: toSignIn(shape.signIn) } : {}),
    sandbox: shape.sandbox ?? false,
    ...(shape.approvals === "single-person" ? { singlePerson: true } : {}),
    ...(shape.fourEyes === true ? { fourEyes: true } : {}),
    ...(shape.limits ? { limits: toLimits(shape.limits) } : {}),
    ...(shape.notify ? { notify: toNotifySettings(shape.notify) } : {}),
  };
}

function toLimits({ bill, vendorPerWeek, businessPerWeek }: z.output<typeof limits>): PayLimits {
  return {
    billCents: bill ?? null,
    vendorPerWeekCents: vendorPerWeek ?? null,
    businessPerWeekCents: businessPerWeek ?? null,
  };
}
