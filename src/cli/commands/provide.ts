import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import type { Command } from "@commander-js/extra-typings";

import { kybOnboardingId } from "../../contracts/workflow-kinds.ts";
import { PROVIDED_STEPS, type ProvidedStep } from "../../contracts/onboarding.ts";
import type { LegalAct } from "../../domain/onboarding/texts.ts";
import { CliError, EXIT, errorReason, usageError } from "../terminal/cli-error.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { asked, requireYes } from "../terminal/confirm.ts";
import type { Output } from "../terminal/output.ts";
import type { CliSession } from "../client/session.ts";
import { dim, green, printable } from "../terminal/text.ts";
import { OnboardingStatusBody } from "../../api/onboardings.ts";

export function addProvideCommand(program: Command, session: CliSession): void {
  program
    .command("provide")
    .description("give a business's onboarding what a step waits for")
    .argument("<business>", "the business's name in the profiles file")
    .argument("<step>", PROVIDED_STEPS.join(", "))
    .requiredOption(
      "--file <file>",
      "JSON with the step's fields, - for standard input; for documents also a PDF, PNG or JPEG",
    )
    .option("--type <documentType>", "what a document that is not JSON is", "einLetter")
    .option(
      "-y, --yes",
      "do not ask; a signature or certification needs it if there is no terminal",
    )
    .option("--json", "print one JSON document, the status")
    .action((business, stepText, options) =>
      session.run(options, async ({ output, config }) => {
        const step = stepNamed(stepText);
        const data = await bodyOf(step, options.file, options.type);
        const gateway = gatewayOf(config());
        const isAct = step === "signature" || step === "certification";
        const body = isAct
          ? await agreedText({ output, gateway }, step, business, data, options)
          : data;
        if (body === undefined) return EXIT.failed;
        const path = `/v1/onboardings/${encodeURIComponent(business)}/${step}`;
        const status = await gateway.post(path, OnboardingStatusBody, body);
        output.line(`${green("✓")} ${step}: provided for ${printable(business)}`);
        output.line(dim(`payrun status ${status.id}`));
        output.document(status);
        return EXIT.done;
      }),
    );
}

function stepNamed(text: string): ProvidedStep {
  const step = PROVIDED_STEPS.find((each) => each === text);
  if (step !== undefined) return step;
  throw usageError(`“${printable(text)}” is not a step: ${PROVIDED_STEPS.join(", ")}`);
}

/**
 * Shows the text of a legal act before it is done, and binds the act to that text: the gateway
 * refuses an act on another text.
 *
 * @returns undefined if the person at the terminal said no
 */
async function agreedText(
  { output, gateway }: { readonly output: Output; readonly gateway: GatewayClient },
  act: LegalAct,
  business: string,
  body: object,
  { yes }: { readonly yes?: true | undefined },
): Promise<object | undefined> {
  const text = await textOfAct(gateway, act, business);
  if (text === undefined) return body;
  for (const line of text.split("\n")) output.note(`  ${line}`);
  requireYes(`provide ${act}`, { output, yes });
  if (yes !== true && !(await asked(act === "signature" ? "Sign this?" : "Certify this?"))) {
    output.note("Nothing was provided.");
    return undefined;
  }
  return { textHash: createHash("sha256").update(text).digest("hex"), ...body };
}

/** Returns undefined if there is no onboarding: the step itself then reports what to do. */
async function textOfAct(
  gateway: GatewayClient,
  act: LegalAct,
  business: string,
): Promise<string | undefined> {
  try {
    const path = `/v1/runs/${encodeURIComponent(kybOnboardingId(business))}`;
    return (await gateway.get(path, OnboardingStatusBody)).texts[act];
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function bodyOf(step: ProvidedStep, file: string, documentType: string): Promise<object> {
  const bytes = await bytesOf(file);
  if (step === "documents" && (isFile(bytes) || /\.(pdf|png|jpe?g)$/i.test(file))) {
    return { documentType, file: bytes.toString("base64") };
  }
  const body = jsonOf(bytes, file, step === "documents" ? "neither a PDF, PNG or JPEG nor" : "not");
  if (step !== "documents") return body;
  return withContents(body, file === "-" ? process.cwd() : dirname(resolve(file)));
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return file === "-" ? Buffer.from(await textOf(process.stdin)) : await readFile(file);
  } catch (error) {
    throw usageError(`${file} can't be read: ${errorReason(error)}`);
  }
}

/** Errors never repeat the file's contents, which are personal. */
function jsonOf(bytes: Buffer, file: string, no: string): object {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw usageError(`${file} is ${no} valid JSON`);
  }
  if (typeof body === "object" && body !== null) return body;
  throw usageError(`${file} must hold a JSON object`);
}

const STARTS: readonly (readonly number[])[] = [
  [0x25, 0x50, 0x44, 0x46],
  [0x89, 0x50, 0x4e, 0x47],
  [0xff, 0xd8, 0xff],
];

/** True for a PDF, PNG or JPEG, judged by its first bytes. */
function isFile(bytes: Buffer): boolean {
  return STARTS.some((start) => start.every((byte, at) => bytes[at] === byte));
}

/** Replaces file names, relative to the JSON that names them, by the files' contents. */
async function withContents(body: unknown, folder: string): Promise<object> {
  if (isRecord(body) && "documents" in body && Array.isArray(body.documents)) {
    const each: readonly unknown[] = body.documents;
    return { documents: await Promise.all(each.map((one) => withContents(one, folder))) };
  }
  if (!isRecord(body) || !("file" in body) || typeof body.file !== "string") {
    throw usageError(
      "a document needs “file”, the path of a PDF, PNG or JPEG, or its bytes in base64",
    );
  }
  // The bytes themselves, as they go over HTTP.
  if (isFile(Buffer.from(body.file.slice(0, 8), "base64"))) return body;
  const path = resolve(folder, body.file);
  return { ...body, file: (await bytesOf(path)).toString("base64") };
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
