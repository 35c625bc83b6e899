/**
 * Location of a bucket in object storage (Amazon S3 or a compatible server), from MEDIA_URL and the
 * AWS environment variables.
 */

export interface StorageBucket {
  readonly name: string;

  /** Prefix of all object keys in the bucket: empty, or with a trailing slash. */
  readonly prefix: string;

  /** URL of the S3-compatible server; absent for Amazon S3. */
  readonly endpoint?: string;
  readonly region: string;

  /** S3 credentials. By default, the AWS SDK finds them, for example by the instance role. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

const BUCKET_NAME_PATTERN = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/**
 * Parses a syntactically valid URL. The result is null unless the URL has the form
 * `s3://bucket/prefix`. `readVariable` reads an environment variable.
 */
export function parseBucketUrl(
  url: string,
  endpoint: string | undefined,
  readVariable: (name: string) => string | undefined,
): StorageBucket | null {
  const { host, pathname, search, hash, username } = new URL(url);

  if (!BUCKET_NAME_PATTERN.test(host) || search || hash || username) return null;
  const prefix = pathname.split('/').filter(Boolean).join('/');
  const [accessKeyId, secretAccessKey] = [
    readVariable('AWS_ACCESS_KEY_ID'),
    readVariable('AWS_SECRET_ACCESS_KEY'),
  ];

  return {
    name: host,
    prefix: prefix && `${prefix}/`,
    endpoint,
    region: readVariable('AWS_REGION') ?? readVariable('AWS_DEFAULT_REGION') ?? 'us-east-1',
    ...(accessKeyId &&
      secretAccessKey && {
        credentials: {
          accessKeyId,
          secretAccessKey,
          sessionToken: readVariable('AWS_SESSION_TOKEN'),
        },
      }),
  };
}
