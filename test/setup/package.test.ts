import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { machineEnv } from "../support/machine-env.ts";
import { packedInto } from "../support/packed.ts";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";

const run = promisify(execFile);
const checkout = fileURLToPath(new URL("../..", import.meta.url));
const installed = fileURLToPath(new URL("../../node_modules", import.meta.url));

let sandbox: TestSandbox;
let folder: string;
/** The archive's files, relative to the package's folder. */
let packed: readonly string[];

/** Installs the packed package into a separate folder, without a network. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-package-"));
  sandbox = await startSandbox();
  const archive = await packedInto(folder);
  const home = join(folder, "node_modules", "payrun");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", archive, "--strip-components=1", "-C", home]);
  const { stdout } = await run("tar", ["-tzf", archive]);
  packed = stdout
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));
  await symlink(installed, join(home, "node_modules"), "dir");
}, 300_000);

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

test("plain JavaScript can use the packed client alone, and verify webhooks with it", async () => {
  await writeFile(
    join(folder, "consumer.mjs"),
    `import { createHmac } from "node:crypto";
    import { PaymentsApiError, PaymentsClient, verifyWebhook } from "payrun/payments-api";
    const [baseUrl, value] = process.argv.slice(2);
    const client = new PaymentsClient({ baseUrl, token: { value } });
    const contact = await client.contacts.create({ displayName: "Packed" });
    const found = await client.contacts.list({ search: "Packed" });
    const refused = await client.payments.get("none").catch((error) => error);
    const t = Math.floor(Date.now() / 1000);
    const rawBody = Buffer.from("{}");
    const v1 = createHmac("sha256", "whsec_a").update(t + ".{}").digest("hex");
    const signatureHeader = "t=" + t + ",v1=" + v1;
    const verified = verifyWebhook({
      rawBody, signatureHeader, secrets: ["whsec_a"], nowMs: Date.now(),
    });
    await client.close();
    console.log(JSON.stringify({
      isFound: found.items[0].id === contact.id,
      refused: refused instanceof PaymentsApiError && refused.code,
      verified,
    }));`,
  );
  const { stdout } = await run(
    process.execPath,
    ["consumer.mjs", sandbox.url, sandbox.business.token],
    { cwd: folder },
  );
  expect(JSON.parse(stdout)).toEqual({
    isFound: true,
    refused: "not_found",
    verified: { ok: true },
  });
});

test("TypeScript finds the types of the packed client, and requires a key for money writes", async () => {
  await writeFile(
    join(folder, "consumer.ts"),
    `import { PaymentsClient, type Payment } from "payrun/payments-api";
    const client = new PaymentsClient({ baseUrl: "http://a", token: { value: "t" } });
    export const payment: Promise<Payment> = client.payments.get("p");
    // @ts-expect-error: a payment without a key
    void client.payments.create({ payableId: "b" });
    // @ts-expect-error: no such method
    void client.payments.pay();`,
  );
  const compiler = join(installed, "typescript", "bin", "tsc");
  const flags = ["--noEmit", "--strict", "--target", "es2024", "--module", "nodenext"];
  const withNode = ["--types", "node", "--typeRoots", `${installed}/@types`];
  // The client's types use none of Node's, so a file that imports it compiles without @types/node.
  for (const types of [
    ["--skipLibCheck", ...withNode],
    ["--typeRoots", folder],
  ]) {
    const outcome = await run(
      process.execPath,
      [compiler, ...flags, ...types, join(folder, "consumer.ts")],
      { cwd: folder },
    ).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ stdout: "" });
  }
});

test("the package has programs, playbooks, docs and what containers run, and no development files", () => {
  const wanted = [
    "bin/payrun.mjs",
    "dist/src/cli/main.js",
    "dist/src/payments-api/index.d.ts",
    "dist/workflows/index.js",
    "dist/playbooks/weekly-vendors.yaml",
    "dist/docker-compose.yml",
    "dist/src/console/files/style.css",
    "README.md",
    "LICENSE",
  ];
  expect(packed).toEqual(expect.arrayContaining(wanted));
  const isProgram = (path: string): boolean =>
    /^(?:bin|scripts\/setup)\/[\w-]+\.mjs$|^dist\/.*\.(?:d\.ts|js)$/.test(path);
  const isRead = (path: string): boolean =>
    /^docs\/(?:[\w-]+\.md|alerts\.yaml)$|^dist\/(?:playbooks|docker|src\/console\/files)\/|^dist\/docker-compose\.yml$|^(?:dist\/)?package\.json$/.test(
      path,
    );
  const others = packed.filter((path) => !isProgram(path) && !isRead(path));
  expect(others.toSorted()).toEqual(["LICENSE", "README.md", "dist/sbom.cdx.json"]);
  expect(packed.filter((path) => /(?:^|\/)(?:tests?|bench)\/|\.map$/.test(path))).toEqual([]);
});

test("the package has each docs page that its programs or its index name", async () => {
  const home = join(folder, "node_modules", "payrun");
  const read = (path: string) => readFile(join(home, path), "utf8");
  const programs = packed.filter((path) => /^dist\/.*\.(?:js|yaml|yml)$/.test(path));
  const texts = await Promise.all([...programs, "README.md"].map(read));
  const named = texts.flatMap((text) => text.match(/\bdocs\/[\w-]+\.(?:md|yaml)\b/g) ?? []);
  expect(named).toContain("docs/notices.md");
  const index = (await read("docs/index.md")).matchAll(/\]\(([\w-]+\.\w+)\)/g);
  const listed = [...index].map(([, page]) => `docs/${page}`);
  expect([...named, ...listed].filter((path) => !packed.includes(path))).toEqual([]);
});

test("installing the package runs no scripts", async () => {
  const text = await readFile(join(folder, "node_modules", "payrun", "package.json"), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  const ofInstalling = ["preinstall", "install", "postinstall", "prepare", "preprepare"];
  expect(Object.keys(scripts).filter((name) => ofInstalling.includes(name))).toEqual([]);
});

test("the packed program writes a first folder whose playbook is valid and passes its tests", async () => {
  const cwd = join(folder, "first");
  await mkdir(cwd);
  const installed = join(folder, "node_modules", "payrun");
  const program = join(installed, "bin", "payrun.mjs");
  const payrun = (...args: string[]) =>
    run(process.execPath, [program, ...args], { cwd, env: machineEnv() });
  const { stdout } = await payrun("init", "--yes");
  expect(stdout).toContain(`npx --prefix ${installed} payrun launch small-bills-next-day.yaml`);
  await payrun("validate", "small-bills-next-day.yaml");
  expect((await payrun("test", "small-bills-next-day.yaml")).stdout).toContain("$100.00");
  // The containers run files of the package.
  const compose = await readFile(join(cwd, "docker-compose.yml"), "utf8");
  const programs = compose.match(/\b(?:src|docker)\/[\w/-]+\.(?:js|ts)\b/g) ?? [];
  expect(programs).not.toEqual([]);
  expect(packed).toEqual(expect.arrayContaining(programs.map((path) => `dist/${path}`)));
});

test("the package's SBOM lists each dependency with its version", async () => {
  const home = join(folder, "node_modules", "payrun");
  const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));
  const { components } = (await read(join(home, "dist", "sbom.cdx.json"))) as {
    components: { "bom-ref": string }[];
  };
  const { dependencies } = (await read(join(checkout, "package.json"))) as {
    dependencies: Record<string, string>;
  };
  const named = components.map((each) => each["bom-ref"]);
  const wanted = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  expect(wanted.filter((each) => !named.includes(each))).toEqual([]);
});
