/** Returns a command's argument, such as a path or a name, as a single word for the shell. */
export function shellWord(text: string): string {
  const isWindows = process.platform === "win32";
  if ((isWindows ? /^[\w@./+:\\-]+$/ : /^[\w@./+:-]+$/).test(text)) return text;
  // Characters that could control a terminal are never printed.
  const plain = text.replaceAll(/\p{C}/gu, "·");
  return isWindows ? `"${plain}"` : `"${plain.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`;
}
