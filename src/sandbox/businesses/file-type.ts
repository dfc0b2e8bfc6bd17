const signatures: readonly [type: string, offset: number, bytes: readonly number[]][] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
  ["application/pdf", 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

/** Returns a file's type by its first bytes, whatever its sender calls it; undefined if unknown. */
export function fileTypeOf(content: Uint8Array): string | undefined {
  return signatures.find(([, offset, bytes]) =>
    bytes.every((byte, index) => content[offset + index] === byte),
  )?.[0];
}
