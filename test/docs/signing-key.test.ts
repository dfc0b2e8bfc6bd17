import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { signersShape, signersText } from "../../src/config/signers.ts";
import { readSignedDecision } from "../../src/domain/approvals/signed-decision.ts";
import { pageText } from "../support/docs.ts";
import { signDecision } from "../support/signing.ts";

const PAGE = pageText("docs/approvals.md");
const RUN = "pay-run/acme/weekly/2026-11-20";

/** The page's lines that make a signer's key, as a person types them. */
const [, LINES = ""] = /^```sh\n(openssl [^`]*)^```/m.exec(PAGE) ?? [];

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "payrun-openssl-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the approvals page shows how to make a signer's key", () => {
  expect(LINES).toContain("erp.pem");
  expect(LINES.trim().split("\n")).toHaveLength(2);
});

describe.runIf(hasOpenssl)("the page's openssl lines", () => {
  let printed: string;
  beforeAll(() => {
    printed = execFileSync("sh", ["-ec", LINES], { cwd: folder, encoding: "utf8" }).trim();
  });

  /** Puts the printed key into the page's settings in place of the shortened one. */
  const filledIn = (text: string): string => text.replaceAll(/MCowBQYDK2VwAyEA…/g, printed);

  test("the page's openssl lines print one line, which begins as the page shows it", () => {
    expect(printed).toMatch(/^MCowBQYDK2VwAyEA\S{44}$/);
  });

  test("the page's openssl lines make a key whose decisions count, with both settings of the page", () => {
    const [, yaml = ""] = /^```yaml\n(businesses:\n[^`]*)^```/m.exec(PAGE) ?? [];
    const profile = parse(filledIn(yaml)) as { businesses: { acme: { signers: unknown } } };
    const [, setting = ""] = /`PAYMENTS_SIGNERS=([^`]+)`/.exec(PAGE) ?? [];
    const privateKey = createPrivateKey(readFileSync(join(folder, "erp.pem")));
    const me = { keyId: "erp-2026", name: "erp", privateKey } as const;
    const rest = { roles: [], publicKey: "", setting: "" };
    const envelope = signDecision({ ...me, ...rest }, { sub: RUN, planHash: "a".repeat(64) });
    for (const signers of [
      signersShape.parse(profile.businesses.acme.signers),
      signersText.parse(filledIn(setting)),
    ]) {
      const reading = readSignedDecision(envelope, { runId: RUN, signers, nowMs: Date.now() });
      expect(reading).toMatchObject({
        ok: true,
        signed: { key: { name: "erp", roles: ["controller"] }, decision: "approve" },
      });
    }
  });
});
