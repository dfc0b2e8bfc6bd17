import { newYorkInstantMs } from "../clock/new-york.ts";

/**
 * Returns why nothing may be debited from a bank account; null if a person has accepted the ACH
 * debit authorization, after the account last revoked it.
 *
 * @param acceptedAt a date, which stands for its beginning in New York, or an instant
 * @param revokedAtMs business-clock instant of the last return that revoked it
 */
export function whyNoDebit(
  acceptedAt: string | undefined,
  revokedAtMs: number | null,
): string | null {
  if (acceptedAt === undefined) {
    return "No person has accepted the ACH debit authorization. Add achAuthorization to the business's profile once a person has.";
  }
  if (revokedAtMs === null || acceptedAtMs(acceptedAt) > revokedAtMs) return null;
  const since = new Date(revokedAtMs).toISOString();
  return `A payment from this account came back as not authorized (${since}), after its ACH debit authorization was accepted (${acceptedAt}). Once a person has accepted it anew, set acceptedAt in the achAuthorization of the business's profile to that instant, or to a date after that of the return.`;
}

function acceptedAtMs(acceptedAt: string): number {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(acceptedAt);
  return isDate ? newYorkInstantMs(acceptedAt, "00:00") : Date.parse(acceptedAt);
}
