/** The longest that a sign-in lasts, whatever its token or identity allows. */
export const SESSION_HOURS = 12;

/** How long a sign-in link works. It works once. */
export const SIGN_IN_LINK_MINUTES = 10;

/** How old a sign-in may be for a decision that requires a recent one. */
export const FRESH_SIGN_IN_MINUTES = 15;

/**
 * What a person had filled in when a newer sign-in was required, kept so that the page shows it
 * again afterwards. It decides nothing.
 */
export interface KeptForm {
  /** Path of the form's page. */
  readonly path: string;
  readonly fields: readonly (readonly [string, string])[];
  /** Real instant at which it was kept. */
  readonly atMs: number;
}

/** True while a form is kept, which is as long as a sign-in counts as recent. */
export function isFormKept({ atMs }: KeptForm, nowMs: number): boolean {
  return nowMs - atMs <= FRESH_SIGN_IN_MINUTES * 60_000;
}

/**
 * How a person signed in: by a link from the command line or by mail, or at their company's
 * provider.
 */
export type SignInWay = "link" | "mail" | "provider";

/** The holder of a session: a token, or a person for whom an identity provider vouches. */
export type SessionHolder =
  | { readonly tokenId: string }
  | {
      readonly issuer: string;
      readonly subject: string;
      /** Names of the profiles that the person chose to act for. */
      readonly businesses: readonly string[];
    };

/**
 * Returns the id under which a person is recorded if an identity provider vouches for them; it
 * takes the place of a token's id.
 */
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

/** The facts that decide whether a session is valid. */
export interface SessionFacts {
  readonly expiresAtMs: number;
  readonly endedAtMs: number | null;
}

/** Returns why a session is not valid; undefined if it is. */
export function sessionProblem(
  { expiresAtMs, endedAtMs }: SessionFacts,
  nowMs: number,
): "ended" | "expired" | undefined {
  // `endedAtMs` may come from another gateway's clock, which may be ahead, so its value is not
  // compared.
  if (endedAtMs !== null) return "ended";
  return expiresAtMs <= nowMs ? "expired" : undefined;
}

/** A session as people see it. Instants are ISO 8601. */
export interface SessionView {
  readonly id: string;
  readonly name: string;
  readonly way: SignInWay;
  /** Null if an identity provider vouches for the person. */
  readonly tokenId: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  /** Names of profiles; null for all businesses of its token. */
  readonly businesses: readonly string[] | null;
  readonly state: "valid" | "ended" | "expired";
  readonly signedInAt: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  readonly lastUsedAt: string | null;
}

/**
 * True if a decision needs a newer sign-in: it approves more than the business's threshold, and the
 * sign-in is older than a quarter of an hour.
 *
 * @param signedInAtMs undefined for a principal that shows a token or a signature with each request
 * @param overCents undefined if the business requires no recent sign-in
 */
export function needsFreshSignIn(
  { signedInAtMs }: { readonly signedInAtMs?: number | undefined },
  amountCents: number,
  { overCents, nowMs }: { readonly overCents: number | undefined; readonly nowMs: number },
): boolean {
  if (signedInAtMs === undefined || overCents === undefined) return false;
  return amountCents > overCents && nowMs - signedInAtMs > FRESH_SIGN_IN_MINUTES * 60_000;
}
