import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const TYPES = {
  "style.css": "text/css; charset=utf-8",
  "live.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

export type FileName = keyof typeof TYPES;

interface File {
  readonly text: string;
  readonly type: string;
  /** Changes with the text, so that a browser may keep the file forever. */
  readonly version: string;
}

const FILES = new Map<string, File>(
  Object.entries(TYPES).map(([name, type]) => {
    const text = readFileSync(new URL(`files/${name}`, import.meta.url), "utf8");
    const version = createHash("sha256").update(text).digest("hex").slice(0, 12);
    return [name, { text, type, version }];
  }),
);

/** Returns the address of one of the console's own files. */
export function asset(name: FileName): string {
  return `/console/${name}?v=${FILES.get(name)?.version ?? ""}`;
}

export function fileNamed(name: string): File | undefined {
  return FILES.get(name);
}
