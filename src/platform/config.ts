/** What the environment says, checked once at start; the only file that reads it. */
import type { Bucket } from './bucket';
import { Environment, type Rate } from './environment';
import * as settings from './settings';

export { ConfigError } from './environment';

export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  /** Processes that answer requests, watched by one more; 0: this process answers them itself, and nobody watches it. */
  readonly workers: number;
  /** Milliseconds of silence after which a worker is replaced; 0: never. */
  readonly workerTimeout: number;
  /** Absent: the embedded PostgreSQL below `dataDir`. */
  readonly databaseUrl?: string;
  /** To the same database around a pooler that gives each transaction another session; absent: `databaseUrl`. */
  readonly listenUrl?: string;
  /** Of a standby of `databaseUrl`, for what strangers read; absent: they read from the database itself. */
  readonly replicaUrl?: string;
  /** Milliseconds that it may be behind. */
  readonly replicaLag: number;
  readonly poolSize: number;
  /** Milliseconds after which a statement that reads is given up; 0: never. */
  readonly statementTimeout: number;
  /** The same for those who are not signed in. */
  readonly anonymousTimeout: number;
  /** Milliseconds for which a statement waits for what another transaction holds; 0: as long as the statement may take. */
  readonly lockTimeout: number;
  /** Milliseconds after which a transaction that does nothing is ended; 0: never. */
  readonly idleTransactionTimeout: number;
  /** Whether PostgreSQL itself shows requests the rows of their viewer alone. `on`: where it can. */
  readonly rowSecurity: 'on' | 'required' | 'off';
  /** Requests that may wait in each lane of the database, and for how many milliseconds. */
  readonly queue: { readonly maxQueued: number; readonly maxWaitMs: number };
  /** Milliseconds for which new connections are taken after the server was told to end, while it says that it is not ready. */
  readonly drainNotice: number;
  /** Milliseconds that everything may be late before new requests are refused; 0: however late. */
  readonly maxLag: number;
  readonly dataDir: string;
  /** Of the files of rows. */
  readonly mediaDir: string;
  /** For the files of rows in the place of the folder. */
  readonly bucket?: Bucket;
  /** Whether the operator has named that folder, for several instances perhaps. */
  readonly ownMediaDir: boolean;
  readonly timeZone: string;
  /** Who may read what the server tells of itself; absent: nobody. `port`: on a port of its own. `token`: as a bearer token. */
  readonly metrics?: { readonly port?: number; readonly host: string; readonly token?: string };
  /** Who collects traces for OpenTelemetry, and under which name; absent: nobody. */
  readonly tracing?: { readonly endpoint: string; readonly service: string };
  /** Absent outside production: made at first start and kept in `dataDir`. */
  readonly secretKey?: string;
  readonly loginRate: Rate;
  readonly loginRateAddress: Rate;
  readonly loginRateTotal: Rate;
  readonly serverTiming: boolean;
  readonly logLevel: string;
  /** Bytes. */
  readonly maxBody: number;
  readonly maxJson: number;
  readonly maxUpload: number;
  readonly maxResponse: number;
  /** Of all images of one user; Infinity: as many as they like. */
  readonly uploadQuota: number;
  /** Of the answers that are kept for one user's Idempotency-Keys. */
  readonly keptAnswers: number;
  /** Idempotency-Keys of one user. */
  readonly maxKeys: number;
  /** Of a body whose sender is not signed in. */
  readonly maxAnonymousBody: number;
  /** Milliseconds in which a client must send something of its request, or take something of its answer; 0: for ever. */
  readonly clientTimeout: number;
  /** Milliseconds after which work on one image is given up; 0: never. */
  readonly imageTimeout: number;
  /** Scheme and host of every link, e.g. `https://fit.example.com`. */
  readonly publicUrl?: string;
  readonly trustedProxies: readonly string[];
  /** Paths of PEM files. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Access tokens of one user. */
  readonly maxTokens: number;
  readonly auditDays: number;
  /** Seconds for which browsers that came by https come by nothing else; 0: they are not told to. */
  readonly hsts: number;
  /** Who may ask for the schema of GraphQL, and use the playground, which does. */
  readonly introspection: 'anyone' | 'users';
  /** Whether /graphql refuses requests that another site's page can send without asking. */
  readonly graphqlCsrf: boolean;
  /** Whether operations of our own, such as REST's, run compiled; else by graphql-js itself. */
  readonly compileOperations: boolean;
  readonly maxCost: number;
  /** What may be spent on operations, in units of cost a second; absent: as much as anybody likes. */
  readonly budget?: { readonly user: number; readonly anonymous: number };
  /** Milliseconds after which a file that is still being sent is given up; 0: never. */
  readonly exportTimeout: number;
  /** Files that are sent at a time. */
  readonly maxExports: number;
  /** Folder with manifests of operations that clients name by an id. */
  readonly persistedOperations?: string;
  readonly persistedOnly: boolean;
}

type Variables = Record<string, string | undefined>;

/** Whether a command shows where an unexpected error comes from; asked when the configuration itself may be wrong. */
export const wantsStacks = (variables: Variables = process.env): boolean => variables.LOG_LEVEL === 'debug';

/** Of several mistakes the first is told: what more than the form of one value can be wrong about comes before the rest. */
export function readConfig(variables: Variables = process.env): Config {
  const env = new Environment(variables);
  const ending = settings.waiting(env);
  const basics = settings.installation(env);
  const loginRate = env.rate('LOGIN_RATE', { points: 10, seconds: 60 });
  return Object.freeze({
    ...ending,
    ...basics,
    ...settings.statements(env),
    ...settings.databases(env),
    ...settings.files(env),
    publicUrl: settings.publicOrigin(env),
    tls: settings.tls(env),
    metrics: settings.metrics(env),
    tracing: settings.tracing(env),
    ...settings.trustedDocuments(env),
    ...settings.listening(env),
    ...settings.connections(env),
    maxLag: env.duration('MAX_LAG', 100),
    ...settings.loginRates(env, loginRate),
    serverTiming: env.flag('SERVER_TIMING', !basics.production),
    ...settings.requests(env),
    ...settings.security(env),
    ...settings.operations(env),
    ...settings.exporting(env),
    compileOperations: env.flag('COMPILE_OPERATIONS', true),
  });
}
