/**
 * What is shared by everything in this process that works for one business: made once, for as long
 * as the store, or the context, lasts.
 */
export function eachBusiness<Of extends object, Shared>(
  make: (of: Of, business: string) => Shared,
): (of: Of, business: string) => Shared {
  const all = new WeakMap<Of, Map<string, Shared>>();
  return (of, business) => {
    const known = all.get(of) ?? new Map<string, Shared>();
    all.set(of, known);
    const shared = known.get(business) ?? make(of, business);
    known.set(business, shared);
    return shared;
  };
}
