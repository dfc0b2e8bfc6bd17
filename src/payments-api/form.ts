/** A file to upload. */
export interface UploadedFile {
  content: Uint8Array;
  /** The name given to the service, such as `logo.png`; people may see it. */
  name: string;
  /** Media type, such as `image/png`. */
  type: string;
}

/** A `multipart/form-data` body, ready to be sent. */
export interface EncodedForm {
  bytes: Uint8Array;
  contentType: string;
}

/** The fields of a form, in their order. */
export type FormFields = Record<string, string | UploadedFile>;

/** Encodes the whole form before it is sent, so that its length is known and it is sent once. */
export async function encodeForm(fields: FormFields): Promise<EncodedForm> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.set(name, value);
    else
      form.set(name, new Blob([new Uint8Array(value.content)], { type: value.type }), value.name);
  }
  const body = new Response(form);
  return {
    bytes: new Uint8Array(await body.arrayBuffer()),
    contentType: body.headers.get("content-type") ?? "multipart/form-data",
  };
}
