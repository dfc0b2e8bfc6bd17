import type { Issue, Path } from "./source.ts";
import { shown } from "./texts.ts";

/** Finds words that a list contains twice. */
export function repeated(list: readonly unknown[], path: Path): Issue[] {
  return list.flatMap((item, index): Issue[] =>
    typeof item === "string" && list.indexOf(item) < index
      ? [
          {
            path: [...path, index],
            anchor: "value",
            message: `${shown(item)} is listed twice`,
            expected: "each word once",
          },
        ]
      : [],
  );
}
