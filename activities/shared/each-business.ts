/**
 * Returns a getter for an object that everything in this process shares that works for one
 * business: it is made once, and lasts as long as the store or the context.
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
