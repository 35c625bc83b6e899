/**
 * Users in Chromium against a server process. Errors in their pages, such as failed requests, fail
 * the test at its end.
 */
import fs from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { createUser } from '../../../src/accounts/accounts';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { build, Installation } from '../../setup/server-process';
import { open } from '../../setup/databases';
import { IMAGE_TIMEOUT, PASSWORD } from '../../setup/fitgraph';
import { WAIT_LIMIT_MS } from '../../setup/waits';

const SCREENSHOTS = path.join(__dirname, '../screenshots');
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const DESKTOP = { width: 1280, height: 800 };
const PAPER = { width: 718, height: 1040 };
const PHONE = { width: 390, height: 800 };

/** Waits for rendering and finishes CSS transitions. */
const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  document.getAnimations().filter((animation) => animation instanceof CSSTransition).forEach((transition) => transition.finish()))`;

export const MAX_UPLOAD_KB = 200;

/** Selectors of third-party elements that break an axe rule and cannot be fixed here, by rule. */
export type Exemptions = Readonly<Record<string, string>>;

export class BrowserSetup {
  private readonly contexts: BrowserContext[] = [];
  private readonly people: Person[] = [];

  private constructor(
    readonly url: string,
    readonly demo: { username: string; password: string; token: string },
    private readonly browser: Browser,
    private readonly end: () => Promise<void>,
  ) {}

  /**
   * Starts a server with demo data and two users without an API key, `ann` and `bob`. They are
   * superusers, so their uploads need no review.
   */
  static async start(): Promise<BrowserSetup> {
    build();
    fs.rmSync(SCREENSHOTS, { recursive: true, force: true });
    fs.mkdirSync(SCREENSHOTS, { recursive: true });
    const installation = await Installation.started({
      IMAGE_TIMEOUT,
      LOGIN_RATE: '1000/min',
      MAX_UPLOAD: `${MAX_UPLOAD_KB}KB`,
    });
    const [server, browser] = await Promise.all([
      installation.start(),
      chromium.launch({ executablePath: process.env.CHROMIUM, args: ARGUMENTS, headless: true }),
    ]);
    const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
    const database = open(connection);

    for (const username of ['ann', 'bob']) {
      await createUser(
        { username, password: PASSWORD, isSuperuser: true },
        database.createSession(),
      );
    }

    await database.close();
    await release();
    return new BrowserSetup(server.url, server.demo, browser, async () => {
      await browser.close();
      server.process.kill('SIGTERM');
      await server.ended;
      await installation.remove();
    });
  }

  /** Opens a new browser profile, signed in as `signedInAs` if given. */
  async person({
    scripts = true,
    signedInAs,
    timeZone,
  }: { scripts?: boolean; signedInAs?: string; timeZone?: string } = {}): Promise<Person> {
    const context = await this.browser.newContext({
      baseURL: this.url,
      viewport: DESKTOP,
      javaScriptEnabled: scripts,
      timezoneId: timeZone,
    });

    context.setDefaultTimeout(WAIT_LIMIT_MS);
    this.contexts.push(context);
    const person = new Person(await context.newPage(), this.url);

    this.people.push(person);

    if (signedInAs) {
      await person.signIn(
        signedInAs,
        signedInAs === this.demo.username ? this.demo.password : PASSWORD,
      );
    }

    return person;
  }

  /** Opens a page of another application, whose failed requests to this server are not errors. */
  async foreignPage(): Promise<Page> {
    const context = await this.browser.newContext({ viewport: DESKTOP });

    context.setDefaultTimeout(WAIT_LIMIT_MS);
    this.contexts.push(context);
    return context.newPage();
  }

  /** Removes and returns the errors of all pages. */
  pageErrors(): string[] {
    return this.people.flatMap(({ pageErrors }) => pageErrors.splice(0));
  }

  async stop(): Promise<void> {
    for (const context of this.contexts) await context.close();
    await this.end();
  }
}

export class Person {
  readonly pageErrors: string[] = [];

  constructor(
    readonly page: Page,
    url: string,
  ) {
    page.on('request', (request) => {
      const address = request.url();

      if (!/^(data|blob):/.test(address) && new URL(address).origin !== url) {
        this.pageErrors.push(`sent a request to another server: ${address}`);
      }
    });
    page.on('requestfailed', (request) => {
      // Navigation aborts pending requests.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') {
        this.pageErrors.push(`failed: ${request.url()}`);
      }
    });
    page.on('pageerror', (error) => this.pageErrors.push(`threw: ${error.message}`));
    page.on('console', (message) => {
      // Tests check the status of the page itself.
      const ofPage =
        message.text().startsWith('Failed to load resource') &&
        message.location().url === page.url();

      if (message.type() === 'error' && !ofPage) {
        this.pageErrors.push(`console: ${message.text()} ${message.location().url}`);
      }
    });
  }

  /** Opens a page and returns its status. */
  async open(address: string): Promise<number> {
    return (await this.page.goto(address))!.status();
  }

  async signIn(username: string, password = PASSWORD): Promise<void> {
    await this.open('/login');
    await this.page.getByLabel('User name').fill(username);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  }

  /** Opens the `<details>` with this summary. */
  async openDetails(summary: string | RegExp): Promise<void> {
    await this.page.locator('summary', { hasText: summary }).click();
  }

  /**
   * Checks a page on a large light and a small dark screen: it does not overflow and is accessible
   * (axe). Takes screenshots. `restore` reloads pages that read the colour scheme when loaded only.
   */
  async checkPage(
    name: string,
    { exempt = {}, restore }: { exempt?: Exemptions; restore?: () => Promise<void> } = {},
  ): Promise<void> {
    const problems: string[] = [];

    for (const [colorScheme, viewport] of [
      ['light', DESKTOP],
      ['dark', PHONE],
    ] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.setViewportSize(viewport);
      await restore?.();
      await this.page.evaluate(SETTLED);
      const width = await this.page.evaluate<number>('document.documentElement.scrollWidth');

      if (width > viewport.width) problems.push(`${width} pixels wide on ${viewport.width}`);
      problems.push(...(await this.violations(exempt)).map((found) => `${colorScheme}: ${found}`));
      await this.page.screenshot({
        path: path.join(SCREENSHOTS, `${name}-${colorScheme}.png`),
        fullPage: true,
      });
    }

    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize(DESKTOP);
    expect(problems).toEqual([]);
  }

  /** Emulates printing on A4. */
  async asPrinted(name: string, inspect: () => Promise<void>): Promise<void> {
    await this.page.emulateMedia({ media: 'print' });
    await this.page.setViewportSize(PAPER);
    await this.page.screenshot({
      path: path.join(SCREENSHOTS, `${name}-print.png`),
      fullPage: true,
    });
    await inspect();
    await this.page.emulateMedia({ media: 'screen' });
    await this.page.setViewportSize(DESKTOP);
  }

  private async violations(exempt: Exemptions): Promise<string[]> {
    if (!(await this.page.evaluate('typeof axe === "object"'))) {
      await this.page.evaluate(axe.source);
    }

    return this.page.evaluate<
      string[]
    >(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => ({ id, where: document.querySelector(target[0]), target, html })))
        .filter(({ id, where }) => !where?.closest((${JSON.stringify(exempt)})[id] ?? 'no-element'))
        .map(({ id, target, html }) => id + ' at ' + target.join(' ') + ': ' + html.slice(0, 200)))`);
  }
}
