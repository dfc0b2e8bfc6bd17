import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Returns the installed browser or the one of PAYRUN_TEST_CHROMIUM; undefined if there is none. */
export function chromiumPath(): string | undefined {
  return [process.env["PAYRUN_TEST_CHROMIUM"] ?? "", ...PLACES].find(
    (path) => path !== "" && existsSync(path),
  );
}
