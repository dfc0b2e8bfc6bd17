import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureSchemathesis, findSchemathesis } from "../../scripts/setup/schemathesis.mjs";
import { FakeMachine } from "./fakes.ts";

let machine: FakeMachine;

beforeEach(() => {
  machine = new FakeMachine();
});

afterEach(() => machine.remove());

const ensure = () => ensureSchemathesis({ env: machine.env, log: machine.log });

/** Creates a Python whose environments have a pip with this script. */
function python(pip: string): void {
  machine.program(
    "python3",
    `mkdir -p "$3/bin"
cat > "$3/bin/pip" <<'PIP'
#!/bin/sh
echo "pip $*" >> "$CALLS"
venv=\${0%/bin/pip}
${pip}
PIP
chmod +x "$3/bin/pip"
`,
  );
}

const installs = `printf '#!/bin/sh\\necho "schemathesis, version 4.32.5"\\n' > "$venv/bin/schemathesis"
chmod +x "$venv/bin/schemathesis"`;

test("without Python, one line says that the API is not fuzzed, and nothing fails", async () => {
  expect(await ensure()).toBeUndefined();
  expect(machine.lines).toEqual([expect.stringMatching(/^the API's document is not fuzzed: .+/)]);
  expect(findSchemathesis(machine.env)).toBeUndefined();
});

test("if pip reaches no index, the last line says so, and no incomplete installation is left", async () => {
  python(`echo "ERROR: Could not find a version" >&2; exit 1`);
  expect(await ensure()).toBeUndefined();
  expect(machine.lines.at(-1)).toMatch(/not fuzzed: .*pip can't install it: .*Could not find/);
  expect(existsSync(join(machine.cache, "schemathesis-4.32.5"))).toBe(false);
});

test("Schemathesis is installed once, in its pinned version, and then found silently", async () => {
  python(installs);
  const path = await ensure();
  expect(path).toBe(join(machine.cache, "schemathesis-4.32.5", "bin", "schemathesis"));
  expect(findSchemathesis(machine.env)).toBe(path);
  const said = machine.lines.length;
  expect(await ensure()).toBe(path);
  expect(machine.lines).toHaveLength(said);
  const pips = machine.calls().filter((call) => call.startsWith("pip "));
  expect(pips).toEqual([expect.stringContaining("schemathesis==4.32.5")]);
});

test("a broken installation of Schemathesis is replaced", async () => {
  machine.file("cache/payrun/schemathesis-4.32.5/bin/schemathesis", "#!/bin/sh\nexit 1\n");
  python(installs);
  expect(await ensure()).toBeDefined();
  expect(machine.calls().some((call) => call.startsWith("pip install"))).toBe(true);
});
