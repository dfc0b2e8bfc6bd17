import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A value as compose reads it if the user has set no variables. */
const scalar = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).replace(/\$\{\w+:?-([^}]*)\}/g, "$1"));
const composeShape = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      build: z.string().optional(),
      command: z.array(z.string()).optional(),
      entrypoint: z.array(z.string()).optional(),
      environment: z.record(z.string(), scalar).default({}),
      ports: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
      network_mode: z.string().optional(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
      user: z.string().optional(),
      privileged: z.boolean().default(false),
      read_only: z.boolean().default(false),
      cap_drop: z.array(z.string()).default([]),
      cap_add: z.array(z.string()).default([]),
      security_opt: z.array(z.string()).default([]),
      profiles: z.array(z.string()).default([]),
      restart: z.string().optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

export const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
export const compose = composeShape.parse(parse(read("docker-compose.yml"), { merge: true }));
type Service = z.output<typeof composeShape>["services"][string];

export const services = Object.entries(compose.services);
export const ours = services.filter(([, { build }]) => build !== undefined);

export function service(name: string): Service {
  const found = compose.services[name];
  if (!found) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}
