/** What is wrong with the address of a database on several hosts, as other drivers take it. */
export const SEVERAL_HOSTS =
  "must name one host, the one that takes writes: a name in DNS that moves with it, a virtual address, or a proxy in front of all its servers";

/** True if the address of a PostgreSQL database names more than one host. */
export function namesSeveralHosts(url: string): boolean {
  const [, authority = "", rest = ""] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  const hosts = authority.slice(authority.lastIndexOf("@") + 1);
  const query = new URLSearchParams(/\?([^#]*)/.exec(rest)?.[1] ?? "");
  return [hosts, ...query.getAll("host")].some((each) => each.includes(","));
}
