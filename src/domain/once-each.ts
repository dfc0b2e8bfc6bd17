/** Returns a function that does its work once for each value, and remembers the result. */
export function onceEach<Result extends object | string>(
  work: (value: string) => Result,
): (value: string) => Result {
  const known = new Map<string, Result>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const result = work(value);
    known.set(value, result);
    return result;
  };
}
