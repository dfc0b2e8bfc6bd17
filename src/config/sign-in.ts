import { z } from "zod";
import { definedOnly } from "../contracts/defined-only.ts";
import { issuer } from "./identities.ts";
import { dollars } from "./setting-values.ts";

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
