/** Where the files of rows are kept, as the environment says it. */

/** Of S3, or of a server that speaks its language. */
export interface Bucket {
  readonly name: string;
  /** Of all keys; empty, or with a slash at the end. */
  readonly prefix: string;
  /** Absent: Amazon's. */
  readonly endpoint?: string;
  readonly region: string;
  /** Absent: those that the machine has. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
}

const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Null for a URL that names none. `variable` reads the environment. */
export function bucketOf(url: string, endpoint: string | undefined, variable: (name: string) => string | undefined): Bucket | null {
  const { host, pathname, search, hash, username } = new URL(url);
  if (!NAME.test(host) || search || hash || username) return null;
  const prefix = pathname.split('/').filter(Boolean).join('/');
  const [accessKeyId, secretAccessKey] = [variable('AWS_ACCESS_KEY_ID'), variable('AWS_SECRET_ACCESS_KEY')];
  return {
    name: host,
    prefix: prefix && `${prefix}/`,
    endpoint,
    region: variable('AWS_REGION') ?? variable('AWS_DEFAULT_REGION') ?? 'us-east-1',
    ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey, sessionToken: variable('AWS_SESSION_TOKEN') } }),
  };
}
