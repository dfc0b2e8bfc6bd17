import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";

const run = promisify(execFile);
const checkout = fileURLToPath(new URL("../..", import.meta.url));
const installed = fileURLToPath(new URL("../../node_modules", import.meta.url));

let sandbox: TestSandbox;
let folder: string;

/** Packs the package as publishing would and installs it in a folder of its own, without network. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-package-"));
  sandbox = await startSandbox();
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: checkout });
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const home = join(folder, "node_modules", "payrun");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", join(folder, archive ?? ""), "--strip-components=1", "-C", home]);
  await symlink(installed, join(home, "node_modules"), "dir");
});

afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

test("plain JavaScript uses the packed client alone, and verifies webhooks with it", async () => {
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

test("TypeScript finds the types of the packed client, and holds money writes to their key", async () => {
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
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
  const types = ["--target", "es2024", "--types", "node", "--typeRoots", `${installed}/@types`];
  const outcome = await run(
    process.execPath,
    [compiler, ...flags, ...types, join(folder, "consumer.ts")],
    { cwd: folder },
  ).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ stdout: "" });
});

test("nothing but the client is packed beside what every package has", async () => {
  const packed = await readdir(join(folder, "node_modules", "payrun"), { recursive: true });
  const own = packed.filter((name) => !name.startsWith("node_modules"));
  expect(own.filter((name) => name.startsWith("src") || name.startsWith("test"))).toEqual([]);
  expect(own).toContain(join("dist", "payments-api", "index.d.ts"));
});

test("the package says what it is made of: each dependency in its version", async () => {
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
