import { html as escaped } from "hono/html";
import { isolated, visible } from "../domain/others-text.ts";

/** The attribute in whose value a template's next text stands. */
const IN_ATTRIBUTE = /([\w-]+)="[^"]*$/;

/** Attributes that programs read: their values stay as they are. */
const READ_BY_PROGRAMS = /^(?:value|href|action|src|id|for|name|class|datetime|data-.+|aria-.*by)$/;

/**
 * Does what Hono's `html` does, for texts from outside: they are escaped, nothing in them is
 * invisible, and none of them changes the order in which the rest of the page is read.
 */
export function html(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
): ReturnType<typeof escaped> {
  const shown = values.map((value, index) => {
    const attribute = IN_ATTRIBUTE.exec(strings[index] ?? "")?.[1];
    if (attribute === undefined) return textsOf(value, (text) => isolated(visible(text)));
    return READ_BY_PROGRAMS.test(attribute) ? value : textsOf(value, visible);
  });
  return escaped(strings, ...shown);
}

function textsOf(value: unknown, shown: (text: string) => string): unknown {
  if (typeof value === "string") return shown(value);
  return Array.isArray(value) ? value.map((each) => textsOf(each, shown)) : value;
}
