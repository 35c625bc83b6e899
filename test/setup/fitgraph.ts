/**
 * Runs the service in the test process, on a database of its own, with clients that send it
 * requests.
 */
import fs from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createApp, type App } from '../../src/server/app';
import { createUser, getOrCreateApiKey, setUserRoles } from '../../src/accounts/accounts';
import { TokenVault } from '../../src/accounts/tokens';
import { readConfig } from '../../src/shared/config';
import type { CatalogueCache } from '../../src/engine/changes/catalogue-cache';
import type { Database } from '../../src/database/connection';
import { createLogger } from '../../src/shared/logging';
import { ForwardedHeaders } from '../../src/request/forwarded-headers';
import type { OpenApiDocument } from '../../src/rest/openapi/document';
import { startServices, type Services } from '../../src/request/services';
import { createDatabase, open, SECRET_KEY, TIME_ZONE, type Content } from './databases';
import { Person } from './person';
import { ResponseRecorder } from './openapi-recorder';

export const PASSWORD = 'a good password';
export const IMAGE_TIMEOUT = '20min';

export interface Options {
  content?: Content;
  environment?: Record<string, string>;

  /** A database that already exists, e.g. that of another instance. */
  sameDatabaseAs?: { readonly database: Pick<Database, 'options'> };
}

export class Fitgraph {
  readonly tokenVault: TokenVault;
  private readonly people = new Map<string, Person>();

  private constructor(
    readonly database: Database,
    readonly reference: CatalogueCache,

    /** Without a slash at the end. */
    readonly url: string,

    /** Lines of the log, as JSON. */
    readonly logged: string[],
    readonly mediaFolder: string,
    secretKey: string,
    private readonly responseRecorder: ResponseRecorder,
    readonly services: Services,
    private readonly end: () => Promise<void>,
  ) {
    this.tokenVault = new TokenVault(secretKey);
  }

  static async start({
    content = 'catalogue',
    environment = {},
    sameDatabaseAs,
  }: Options = {}): Promise<Fitgraph> {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-app-'));
    const ownDatabase = sameDatabaseAs ? undefined : await createDatabase(content);
    const config = readConfig({
      DATA_DIR: dataDir,
      TIME_ZONE,
      SECRET_KEY,
      LOGIN_RATE: '1000/min',
      SERVER_TIMING: 'on',
      PORT: '0',
      // The tests themselves delay the event loop of this process.
      MAX_LAG: 'off',
      // On a busy machine, image processing and tests that hold a lock or a transaction take longer
      // than the server permits by default.
      IMAGE_TIMEOUT,
      LOCK_TIMEOUT: '1min',
      IDLE_TRANSACTION_TIMEOUT: '1min',
      ...environment,
    });
    const database = open(
      ownDatabase?.connection ?? sameDatabaseAs!.database.options.connection,
      config,
    );
    const logged: string[] = [];
    const log = createLogger('info', { write: (line) => void logged.push(line) });
    const { services, stop } = await startServices(
      config,
      database,
      new TokenVault(config.secretKey!),
      new ForwardedHeaders(config),
      log,
    );
    const app = await createApp(services);
    const responseRecorder = new ResponseRecorder();
    const server = await startListening(app, responseRecorder);
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;

    return new Fitgraph(
      database,
      services.catalogue,
      url,
      logged,
      config.mediaDir,
      config.secretKey!,
      responseRecorder,
      services,
      async () => {
        app.startDraining();
        await new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        });
        await app.stop();
        await stop();
        await database.close();
        await ownDatabase?.drop();
        fs.rmSync(dataDir, { recursive: true, force: true });
      },
    );
  }

  /**
   * Returns a user who sends requests with an access token. The first call for a name creates the
   * account.
   */
  async user(username: string, { isSuperuser = false, isCurator = false } = {}): Promise<Person> {
    const known = this.people.get(username);

    if (known) return known;
    const session = this.database.createSession();
    const id = await createUser({ username, password: PASSWORD, isSuperuser }, session);

    if (isCurator) await setUserRoles(id, { isCurator }, session);
    const person = new Person(this.url, {
      id,
      token: await getOrCreateApiKey(id, session, this.tokenVault),
    });

    this.people.set(username, person);
    return person;
  }

  get anonymous(): Person {
    return new Person(this.url);
  }

  /**
   * Executes SQL directly in the database. Counts as a write of this instance, which is told of it
   * at once; `sqlOfOthers` does not.
   */
  async sql(text: string, values?: unknown[]): Promise<Record<string, any>[]> {
    const rows = await this.sqlOfOthers(text, values);

    this.services.publicData.noteWrite();
    return rows;
  }

  async sqlOfOthers(text: string, values?: unknown[]): Promise<Record<string, any>[]> {
    return (await this.database.pool.query(text, values)).rows;
  }

  /** Returns how REST responses differed from the OpenAPI document. */
  schemaViolations(): Promise<string[]> {
    return this.responseRecorder.schemaViolations(
      async () => (await this.anonymous.get('/schema')).body as OpenApiDocument,
    );
  }

  async stop(): Promise<void> {
    try {
      expect(await this.schemaViolations()).toEqual([]);
    } finally {
      await this.end();
    }
  }
}

function startListening(app: App, responseRecorder: ResponseRecorder): Promise<Server> {
  const server = createServer(
    { keepAliveTimeout: 65_000, ...app.serverOptions },
    responseRecorder.recordingResponsesOf(app.listener),
  )
    .on('upgrade', app.onUpgrade)
    .on('clientError', app.onClientError)
    .on('connection', app.onConnection);

  return new Promise((resolve) => server.listen(0, 'localhost', () => resolve(server)));
}

/** Returns an instance that starts before the first test of a file and stops after the last one. */
export function fitgraphForThisFile(options?: Options | (() => Promise<Options>)): Fitgraph {
  let started: Fitgraph | undefined;

  beforeAll(async () => {
    started = await Fitgraph.start(typeof options === 'function' ? await options() : options);
  });
  afterEach(async () => expect(await started?.schemaViolations()).toEqual([]));
  afterAll(() => started?.stop());
  return new Proxy({} as Fitgraph, {
    get(_target, name) {
      const value = Reflect.get(started!, name) as unknown;

      return typeof value === 'function' ? value.bind(started) : value;
    },
  });
}
