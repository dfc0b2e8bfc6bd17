import type { GatewayContext } from "../http/context.ts";

/** Address that signs its opener in, by a button; the code stands where no server sees it. */
export function linkTo(
  { publicUrl }: Pick<GatewayContext, "publicUrl">,
  code: string,
  to = "/",
): string {
  const query = to === "/" ? "" : `?${new URLSearchParams({ to }).toString()}`;
  return `${publicUrl()}/sign-in${query}#${code}`;
}
