import { z } from "zod";
import { definedOnly } from "../contracts/defined-only.ts";
import { issuer } from "./identities.ts";

/** A company's own identity provider (OpenID Connect). */
export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How a business's people sign in at the console. */
export interface SignInSettings {
  readonly provider?: IdentityProvider;
  /** Approving more than this requires a sign-in within the last quarter of an hour. */
  readonly freshOverCents?: number;
}

const word = z.string("must be text (put it in quotes)").trim().min(1, "must not be empty");

const provider = z.strictObject({ issuer, clientId: word, clientSecret: word });

const DOLLARS = /^\$(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{2}))?(k?)$/;
const MESSAGE = "must be an amount in US dollars, such as $50k, $75,000 or $1,234.56";

const dollars = z.string(MESSAGE).transform((text, context) => {
  const [, whole, cents = "00", thousands] = DOLLARS.exec(text.trim()) ?? [];
  if (whole !== undefined && (thousands === "" || cents === "00")) {
    const inDollars = Number(whole.replaceAll(",", "")) * (thousands === "k" ? 1_000 : 1);
    return inDollars * 100 + Number(cents);
  }
  context.addIssue({ code: "custom", message: MESSAGE });
  return z.NEVER;
});

/** `signIn: { provider: { issuer, clientId, clientSecret }, freshOver }` of a business. */
export const signInShape = z.strictObject({
  provider: provider.optional(),
  freshOver: dollars.optional(),
});

export const SIGN_IN_KEYS: readonly string[] = [
  ...Object.keys(signInShape.shape),
  ...Object.keys(provider.shape),
];

/** Builds the settings from what `signInShape` has accepted. */
export function toSignIn(shape: z.output<typeof signInShape>): SignInSettings {
  return definedOnly({ provider: shape.provider, freshOverCents: shape.freshOver });
}
