/** Values that canonical JSON can express. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue | undefined };

/**
 * Writes a value as its only canonical text: keys sorted by code unit, no whitespace, undefined
 * members left out.
 *
 * Hashes of approvals and idempotency keys are made from it, so its output never changes.
 *
 * @throws {RangeError} for numbers that are not safe integers: they have no exact text
 */
export function canonicalJson(value: CanonicalValue): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) {
      throw new RangeError(`canonical JSON takes safe integers only, got ${String(value)}`);
    }
    return Object.is(value, -0) ? "0" : String(value);
  }
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(",")}}`;
}

/** True for a list. `Array.isArray` doesn't narrow the type of a readonly one. */
export function isList(value: CanonicalValue): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}
