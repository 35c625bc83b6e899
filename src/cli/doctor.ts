/**
 * `fitgraph doctor`: prints the findings of the diagnostics. Exits with status 1 if a check fails.
 */
import fs, { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { parseEnv } from 'node:util';
import {
  ConfigError,
  readConfig,
  readEnvironment,
  printsStackTraces,
  type Config,
  type EnvironmentVariables,
} from '../shared/config';
import { majorVersionOfCluster } from '../database/embedded/cluster';
import { openDatabase } from '../database/open';
import '../graphql/schema';
import { choosePort } from '../server/port';
import { formatCount } from '../shared/messages';
import {
  checkDatabase,
  checkInstallation,
  createReporter,
  type DiagnosticReporter,
} from '../telemetry/diagnostics';
import { printLine } from './command-context';

async function runDiagnostics(
  config: Config,
  variables: EnvironmentVariables,
  report: DiagnosticReporter,
): Promise<void> {
  checkInstallation(config, variables, report);
  await checkPort(config, report);

  if (!config.databaseUrl && !hasEmbeddedDatabase(config)) {
    return report.ok('Database', 'none yet; the first start creates an embedded one');
  }

  const { database, close: closeDatabase } = await openDatabase(config, () => undefined, {
    needsSecretKey: false,
  });

  try {
    await checkDatabase(config, database, report);
  } finally {
    await closeDatabase();
  }
}

/**
 * Whether an embedded database exists. Call this before `openDatabase`, which creates a missing
 * one.
 */
function hasEmbeddedDatabase({ dataDir }: Config): boolean {
  const locationFile = path.join(dataDir, 'location');
  let parentFolder = dataDir;

  if (fs.existsSync(locationFile)) parentFolder = fs.readFileSync(locationFile, 'utf8').trim();
  const clusterFolder = path.join(parentFolder, 'postgres');

  return majorVersionOfCluster({ clusterFolder }) !== undefined;
}

/** Formats `host` for a URL that this machine can open, for example `localhost` for `0.0.0.0`. */
function localUrlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';

  return isIPv6(host) ? `[${host}]` : host;
}

async function checkPort({ host, port, tls }: Config, report: DiagnosticReporter): Promise<void> {
  try {
    await choosePort(host, port);
    return report.ok('Port', `${port || 'any'} is free: no server is running`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
      return report.fail('Port', (error as Error).message, 'choose another HOST or PORT');
    }
  }

  if (tls) return report.ok('Port', `${port} is in use, possibly by the server`);
  const response = await fetch(`http://${localUrlHost(host)}:${port}/health/ready`, {
    signal: AbortSignal.timeout(3_000),
  }).catch(() => undefined);
  const body = (await response?.json().catch(() => undefined)) as
    { status?: string; reason?: string; degraded?: string[] } | undefined;
  const runningMessage = `a server is running on ${port}`;

  if (!body?.status) {
    report.fail('Port', `${port} is in use by another program`, 'choose another PORT');
  } else if (!response!.ok || !['ok', 'degraded'].includes(body.status)) {
    report.fail(
      'Port',
      `${runningMessage} but is not ready${body.reason ? ` (${body.reason})` : ''}`,
      'see its log',
    );
  } else if (body.degraded) {
    report.warn('Port', `${runningMessage}, but ${body.degraded.join(', ')}`, 'see its log');
  } else report.ok('Port', `${runningMessage} and is ready`);
}

function readEnvironmentVariables(environmentFile: string | undefined) {
  if (environmentFile === undefined) return readEnvironment();

  try {
    return { ...readEnvironment(), ...parseEnv(readFileSync(environmentFile, 'utf8')) };
  } catch (error) {
    throw new ConfigError(`--environment: ${(error as Error).message}`);
  }
}

export async function doctor({ environment }: { environment?: string } = {}): Promise<void> {
  const countByResult = { ok: 0, WARN: 0, FAIL: 0 };
  const report = createReporter(({ result, topic, text, advice }) => {
    countByResult[result] += 1;
    printLine(`${result.padEnd(4)}  ${topic}: ${text}`);
    if (advice) printLine(`      → ${advice}`);
  });

  try {
    const variables = readEnvironmentVariables(environment);

    await runDiagnostics(readConfig(variables), variables, report);
  } catch (error) {
    const { message, stack } = error as Error;
    const isConfigError = error instanceof ConfigError;

    report.fail(
      isConfigError ? 'Configuration' : 'Unexpected',
      isConfigError || !printsStackTraces() ? message : stack!,
    );
  }

  const checkCount = countByResult.ok + countByResult.WARN + countByResult.FAIL;

  printLine(
    `${checkCount} checks: ${countByResult.FAIL} failed, ${formatCount(countByResult.WARN, 'warning')}.`,
  );
  if (countByResult.FAIL) process.exitCode = 1;
}
