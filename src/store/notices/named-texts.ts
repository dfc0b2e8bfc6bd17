import { type Name } from "../../domain/names.ts";
import { namesOfAnyKind } from "../names/names.ts";
import type { Db } from "../sql/db.ts";

/** Ids as services make them; an ordinary word has neither digits nor underscores. */
const ID = /(?<![\w-])(?=[\w-]*[\d_])[A-Za-z][\w-]+(?![\w-])/g;

/** From here on a line is a command, which takes ids. */
const COMMAND = /\bpayrun [a-z]/;

/** A notice lists few bills. */
const IDS_MOST = 200;

const NAME_MAX = 60;

export interface Texts {
  readonly subject: string;
  readonly text: string;
}

/**
 * Returns texts in which bills, vendors and accounts have the names that people use, followed by
 * their ids except in the subject. What has no name keeps its id alone.
 */
export async function namedTexts(
  db: Db,
  businessId: string,
  { subject, text }: Texts,
): Promise<Texts> {
  const lines = [subject, ...text.split("\n")];
  const ids = new Set(lines.flatMap((line) => speechOf(line)[0].match(ID) ?? []));
  if (ids.size === 0) return { subject, text };
  const names = await namesOfAnyKind(db, businessId, [...ids].slice(0, IDS_MOST));
  if (names.size === 0) return { subject, text };
  const named = (line: string, isShort: boolean): string => {
    const [speech, command] = speechOf(line);
    return `${speech.replaceAll(ID, (id) => called(id, names.get(id), isShort))}${command}`;
  };
  const [first = "", ...others] = lines;
  return { subject: named(first, true), text: others.map((line) => named(line, false)).join("\n") };
}

/** Splits a line into the part before its command, and the rest. */
function speechOf(line: string): readonly [string, string] {
  const at = COMMAND.exec(line)?.index ?? line.length;
  return [line.slice(0, at), line.slice(at)];
}

function called(id: string, name: Name | undefined, isShort: boolean): string {
  if (name === undefined) return id;
  const number = name.kind === "account" && name.number !== null ? `··${name.number}` : name.number;
  const words = [name.name, number].flatMap((word) => (word === null ? [] : onOneLine(word)));
  if (words.length === 0) return id;
  return isShort ? words.join(" ") : `${words.join(" ")} (${id})`;
}

/** Vendors choose their names: no part of one may look like another line of the notice. */
function onOneLine(text: string): string {
  const plain = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return plain.length <= NAME_MAX ? plain : `${plain.slice(0, NAME_MAX - 1)}…`;
}
