import type { ActionContext } from "../context.ts";
import { asked, SERVICE, unlessUnknown } from "./found.ts";

/** Bills read at a time; the service has no list by ids. */
const AT_ONCE = 10;

/**
 * Reads the numbers and vendors of bills from the service. The result lacks bills that the service
 * doesn't know, or can't be asked about now.
 */
export async function billsCalled(
  { payables }: Pick<ReturnType<ActionContext["clientOf"]>, "payables">,
  ids: readonly string[],
): Promise<Map<string, { readonly number: string | null; readonly name: string | null }>> {
  const called = new Map<string, { number: string | null; name: string | null }>();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE);
    const read = some.map((id) => unlessUnknown(() => payables.get(id, SERVICE)));
    const { value } = await asked(() => Promise.all(read));
    if (value === undefined) return called;
    for (const bill of value) {
      if (bill === null) continue;
      called.set(bill.id, {
        number: bill.publicId ?? null,
        name: bill.contact?.displayName ?? null,
      });
    }
  }
  return called;
}
