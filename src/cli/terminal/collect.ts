/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}
