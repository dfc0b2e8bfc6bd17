import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { text as textOf } from "node:stream/consumers";
import type { Command } from "@commander-js/extra-typings";

import { PROVIDED_STEPS, type ProvidedStep } from "../../contracts/onboarding.ts";
import { reasonOf, usageError } from "../cli-error.ts";
import { gatewayOf } from "../gateway-client.ts";
import { onboardingStatus } from "../gateway-shapes.ts";
import type { Session } from "../session.ts";
import { dim, green, printable } from "../text.ts";

export function addProvideCommand(program: Command, session: Session): void {
  program
    .command("provide")
    .description("give a business's onboarding what a step waits for")
    .argument("<business>", "the business's name in the profiles file")
    .argument("<step>", PROVIDED_STEPS.join(", "))
    .requiredOption(
      "--file <file>",
      "JSON with the step's fields, - for standard input; for documents also a PDF, PNG or JPEG",
    )
    .option("--type <documentType>", "what a document that is no JSON is", "einLetter")
    .option("--json", "print one JSON document, the status")
    .action((business, stepText, options) =>
      session.run(options, async ({ output, config }) => {
        const step = stepNamed(stepText);
        const body = await bodyOf(step, options.file, options.type);
        const path = `/v1/onboardings/${encodeURIComponent(business)}/${step}`;
        const status = await gatewayOf(config()).post(path, onboardingStatus, body);
        if (step === "signature" || step === "certification") {
          // What was put one's name to, beside the record in the audit trail.
          for (const line of status.texts[step].split("\n")) output.note(`  ${line}`);
        }
        output.line(`${green("✓")} ${step} is provided for ${printable(business)}`);
        output.line(dim(`payrun status ${status.id}`));
        output.document(status);
      }),
    );
}

function stepNamed(text: string): ProvidedStep {
  const step = PROVIDED_STEPS.find((each) => each === text);
  if (step !== undefined) return step;
  throw usageError(`“${printable(text)}” is no step: ${PROVIDED_STEPS.join(", ")}`);
}

async function bodyOf(step: ProvidedStep, file: string, documentType: string): Promise<object> {
  const bytes = await bytesOf(file);
  if (step === "documents" && isFile(bytes)) {
    return { documentType, file: bytes.toString("base64") };
  }
  const body = jsonOf(bytes, file);
  if (step !== "documents") return body;
  return withContents(body, file === "-" ? process.cwd() : dirname(resolve(file)));
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return file === "-" ? Buffer.from(await textOf(process.stdin)) : await readFile(file);
  } catch (error) {
    throw usageError(`${file} can't be read: ${reasonOf(error)}`);
  }
}

/** Errors never repeat what stands in the file: it is personal. */
function jsonOf(bytes: Buffer, file: string): object {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw usageError(`${file} is not valid JSON`);
  }
  if (typeof body === "object" && body !== null) return body;
  throw usageError(`${file} must hold a JSON object`);
}

const STARTS: readonly (readonly number[])[] = [
  [0x25, 0x50, 0x44, 0x46],
  [0x89, 0x50, 0x4e, 0x47],
  [0xff, 0xd8, 0xff],
];

/** A PDF, PNG or JPEG by its first bytes. */
function isFile(bytes: Buffer): boolean {
  return STARTS.some((start) => start.every((byte, at) => bytes[at] === byte));
}

/** Puts files in the place of their names, which are relative to the JSON that names them. */
async function withContents(body: object, folder: string): Promise<object> {
  if ("documents" in body && Array.isArray(body.documents)) {
    const each = body.documents as readonly object[];
    return { documents: await Promise.all(each.map((one) => withContents(one, folder))) };
  }
  if (!("file" in body) || typeof body.file !== "string") {
    throw usageError("a document needs “file”, the path of a PDF, PNG or JPEG");
  }
  const path = resolve(folder, body.file);
  return { ...body, file: (await bytesOf(path)).toString("base64") };
}
