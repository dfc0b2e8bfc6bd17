/** A sign-in lasts so long at most, whatever its token or identity says. */
export const SESSION_HOURS = 12;

/** A link that signs somebody in works so long, and once. */
export const SIGN_IN_LINK_MINUTES = 10;

/** What asks for a recent sign-in takes one of the last so many minutes. */
export const FRESH_SIGN_IN_MINUTES = 15;

/**
 * What somebody had filled in when a newer sign-in was asked for, so that the page has it again
 * afterwards. It decides nothing.
 */
export interface KeptForm {
  /** Of the page that it is of. */
  readonly path: string;
  readonly fields: readonly (readonly [string, string])[];
  /** Real instant. */
  readonly atMs: number;
}

/** A form is kept as long as a sign-in counts as recent. */
export function isKept({ atMs }: KeptForm, nowMs: number): boolean {
  return nowMs - atMs <= FRESH_SIGN_IN_MINUTES * 60_000;
}

/** How somebody signed in: by a link from the command line or by mail, or at their company's provider. */
export type SignInWay = "link" | "mail" | "provider";

/** Whose session it is: a token's, or a person's whom a provider of identities vouches for. */
export type SessionHolder =
  | { readonly tokenId: string }
  | {
      readonly issuer: string;
      readonly subject: string;
      /** Names of the profiles that the person chose to act for. */
      readonly businesses: readonly string[];
    };

/** How a person is written down whom a provider vouches for, where another one's token's id stands. */
export function identityId({
  issuer,
  subject,
}: {
  readonly issuer: string;
  readonly subject: string;
}): string {
  return `${IDENTITY_PREFIX}${issuer} ${subject}`;
}

export const IDENTITY_PREFIX = "oidc/";

/** What a session is judged by, at any moment. */
export interface SessionFacts {
  readonly expiresAtMs: number;
  readonly endedAtMs: number | null;
}

/** Why a session counts for nothing; undefined where it counts. */
export function sessionProblem(
  { expiresAtMs, endedAtMs }: SessionFacts,
  nowMs: number,
): "ended" | "expired" | undefined {
  // Of another gateway's clock, which may be ahead, only whether it has been counts.
  if (endedAtMs !== null) return "ended";
  return expiresAtMs <= nowMs ? "expired" : undefined;
}

/** A session as people are shown it. Instants are ISO 8601. */
export interface SessionView {
  readonly id: string;
  readonly name: string;
  readonly way: SignInWay;
  /** Null where it stands on a provider's word. */
  readonly tokenId: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  /** Names of profiles; null for all that its token is for. */
  readonly businesses: readonly string[] | null;
  readonly state: "valid" | "ended" | "expired";
  readonly signedInAt: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  readonly lastUsedAt: string | null;
}

/**
 * True where what is decided asks for a sign-in that is not older than a quarter of an hour.
 *
 * @param signedInAtMs undefined for whoever shows a token or a signature with each request
 * @param overCents undefined where the business asks for none
 */
export function needsFreshSignIn(
  { signedInAtMs }: { readonly signedInAtMs?: number | undefined },
  amountCents: number,
  { overCents, nowMs }: { readonly overCents: number | undefined; readonly nowMs: number },
): boolean {
  if (signedInAtMs === undefined || overCents === undefined) return false;
  return amountCents > overCents && nowMs - signedInAtMs > FRESH_SIGN_IN_MINUTES * 60_000;
}
