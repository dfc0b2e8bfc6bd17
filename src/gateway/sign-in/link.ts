import type { GatewayContext } from "../http/context.ts";

/**
 * Returns the address of the page on which a button signs the person in. The code is in the
 * fragment, which browsers don't send to servers.
 */
export function linkTo(
  { publicUrl }: Pick<GatewayContext, "publicUrl">,
  code: string,
  to = "/",
): string {
  const query = to === "/" ? "" : `?${new URLSearchParams({ to }).toString()}`;
  return `${publicUrl()}/sign-in${query}#${code}`;
}
