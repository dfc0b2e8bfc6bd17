/** The sandbox's speed, beside a server that does nothing but answer. */
export function main(): Promise<void> {
  process.stdout.write("nothing is measured yet\n");
  return Promise.resolve();
}
