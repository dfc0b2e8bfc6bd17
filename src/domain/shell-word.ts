/** A path, a name or whatever else a command takes, as the one word that a shell makes of it. */
export function shellWord(text: string): string {
  const isWindows = process.platform === "win32";
  if ((isWindows ? /^[\w@./+:\\-]+$/ : /^[\w@./+:-]+$/).test(text)) return text;
  // What steers a terminal is never printed.
  const plain = text.replaceAll(/\p{C}/gu, "·");
  return isWindows ? `"${plain}"` : `"${plain.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`;
}
