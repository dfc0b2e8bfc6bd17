/** A vendor's bank account by its last digits; `none` where there is none. */
export function accountText(last4: string | null | undefined): string {
  return last4 == null ? "none" : `••${last4}`;
}
