import pg from "pg";

/** The databases of a server, besides the one through which it is administered. */
export interface Databases {
  /**
   * Creates an empty database whose language sorts texts in another order than that of their bytes.
   */
  create(name: string): Promise<void>;
  copy(template: string, name: string): Promise<void>;
  drop(name: string): Promise<void>;
  urlOf(name: string): string;
}

/** @param adminUrl a database whose user may create others */
export function databasesOf(adminUrl: string): Databases {
  const run = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  return {
    create: (name) =>
      run(`create database ${name} template template0 locale_provider icu icu_locale 'en-US'`),
    copy: (template, name) => run(`create database ${name} template ${template}`),
    drop: (name) => run(`drop database if exists ${name} with (force)`),
    urlOf(name) {
      const url = new URL(adminUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}
