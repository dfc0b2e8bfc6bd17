import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser that is installed, or the one of PAYRUN_TEST_CHROMIUM; undefined for none. */
export function chromiumPath(): string | undefined {
  return [process.env["PAYRUN_TEST_CHROMIUM"] ?? "", ...PLACES].find(
    (path) => path !== "" && existsSync(path),
  );
}
