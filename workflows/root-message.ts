/** Returns the message of the innermost cause, or `otherwise` if there is none. */
export function rootMessage(error: unknown, otherwise: string): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root instanceof Error ? root.message : otherwise;
}
