import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal, hasTerminals } from "./at-terminal.ts";
import { payrun, temporaryFolder } from "./cli.ts";

const DOWN = "\u001B[B";

test.runIf(hasTerminals)(
  "at a terminal init asks for each setting and says what is wrong with an answer",
  async () => {
    const cwd = temporaryFolder();
    const said = await atTerminal(
      ["init"],
      [
        ["Which Payments Service?", `${DOWN}\r`],
        ["What is the business called?", "north\r"],
        ["Address of the service?", "payments.example.com\r"],
        ["must be an https:// address", "\u0015https://payments.example.com\r"],
        ["The business's id at the service?", "biz_7\r"],
        ["Which playbook to begin with?", "\r"],
        ["Who approves?", "treasurer, owner\r"],
      ],
      { cwd },
    );
    expect(said).toContain("What to type next:");
    const profiles = readFileSync(join(cwd, "profiles.yaml"), "utf8");
    expect(profiles).toMatch(
      /north:\n +apiUrl: "https:\/\/payments\.example\.com"\n +businessId: "biz_7"\n/,
    );
    const playbook = join(cwd, "small-bills-next-day.yaml");
    expect(readFileSync(playbook, "utf8")).toMatch(/by:\s+- treasurer\s+- owner\s/);
    expect((await payrun(["test", playbook], { cwd })).code).toBe(0);
  },
);
