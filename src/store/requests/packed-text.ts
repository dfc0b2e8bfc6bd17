import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";

/** A shorter text gains too little. */
const PACKED_FROM_LENGTH = 8 * 1024;

/** How thoroughly Brotli searches: about as fast as gzip, and smaller. */
const QUALITY = 4;

/** No JSON begins with it. */
const MARK = "br:";

const [compress, decompress] = [promisify(brotliCompress), promisify(brotliDecompress)];

/** Returns a JSON text as it is stored: compressed if it is long, off the event loop. */
export async function packed(text: string): Promise<string> {
  if (text.length < PACKED_FROM_LENGTH) return text;
  const bytes = await compress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
  return `${MARK}${bytes.toString("base64")}`;
}

/** Returns a text that was stored so. */
export async function unpacked(text: string): Promise<string> {
  if (!text.startsWith(MARK)) return text;
  return (await decompress(Buffer.from(text.slice(MARK.length), "base64"))).toString("utf8");
}
