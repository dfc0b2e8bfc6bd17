import { afterEach, beforeEach, expect, test } from "vitest";

import { auditPackages } from "../../scripts/audit.mjs";
import { FakeMachine } from "./fakes.ts";

let machine: FakeMachine;
beforeEach(() => {
  machine = new FakeMachine();
});
afterEach(() => machine.remove());

function audited(answer: string, code: number) {
  machine.program("npm", `cat <<'ANSWER'\n${answer}\nANSWER\nexit ${code}\n`);
  return auditPackages({ env: machine.env, cwd: machine.folder });
}

test("a package with a known vulnerability of level high or above is named, and a lesser one is not", async () => {
  const vulnerabilities = {
    left: { name: "left", severity: "critical" },
    right: { name: "right", severity: "high" },
    up: { name: "up", severity: "moderate" },
  };
  expect(await audited(JSON.stringify({ vulnerabilities }), 1)).toEqual({
    answered: true,
    holes: ["left (critical)", "right (high)"],
  });
  expect(await audited('{"vulnerabilities":{}}', 0)).toEqual({ answered: true, holes: [] });
});

test("a registry that doesn't answer does not count as a registry without findings", async () => {
  const silent = { answered: false, holes: [] };
  expect(await audited('{"statusCode":405,"error":{"summary":""}}', 1)).toEqual(silent);
  expect(await audited("", 1)).toEqual(silent);
});
