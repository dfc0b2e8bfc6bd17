/**
 * The fields of `fields` that have a value: a field that is undefined is left out, so that spreading
 * the result neither sets nor replaces it. Null is a value.
 */
export function definedOnly<Fields extends object>(fields: Fields): DefinedOnly<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as DefinedOnly<Fields>;
}

type DefinedOnly<Fields> = string extends keyof Fields
  ? Record<string, Exclude<Fields[keyof Fields], undefined>>
  : {
      [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
    } & {
      [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<
        Fields[Key],
        undefined
      >;
    };
