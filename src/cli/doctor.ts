/** `fitgraph doctor`: prints the findings of the diagnostics. The exit status is 1 if a check fails. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, readConfig, readEnvironment, showsStackTraces } from '../platform/config';
import { runDiagnostics } from './diagnostics';
import type { DiagnosticReporter } from './diagnosticreporter';
import { formatCount, printLine } from './commandcontext';

function readEnvironmentVariables(environmentFile: string | undefined) {
  if (environmentFile === undefined) return readEnvironment();
  try {
    return { ...readEnvironment(), ...parseEnv(readFileSync(environmentFile, 'utf8')) };
  } catch (error) {
    throw new ConfigError(`--environment: ${(error as Error).message}`);
  }
}

export async function doctor({ environment }: { environment?: string } = {}): Promise<void> {
  const countByLabel = { 'ok  ': 0, WARN: 0, FAIL: 0 };
  const createReporter =
    (resultLabel: keyof typeof countByLabel) =>
    (topic: string, message: string, advice?: string) => {
      countByLabel[resultLabel] += 1;
      printLine(`${resultLabel}  ${topic}: ${message}`);
      if (advice) printLine(`      → ${advice}`);
    };
  const report: DiagnosticReporter = {
    ok: createReporter('ok  '),
    warn: createReporter('WARN'),
    fail: createReporter('FAIL'),
  };
  try {
    const variables = readEnvironmentVariables(environment);
    await runDiagnostics(readConfig(variables), variables, report);
  } catch (error) {
    const { message, stack } = error as Error;
    const isConfigError = error instanceof ConfigError;
    report.fail(
      isConfigError ? 'Configuration' : 'Unexpected',
      isConfigError || !showsStackTraces() ? message : stack!,
    );
  }
  const checkCount = countByLabel['ok  '] + countByLabel.WARN + countByLabel.FAIL;
  printLine(
    `${checkCount} checks: ${countByLabel.FAIL} failed, ${formatCount(countByLabel.WARN, 'warning')}.`,
  );
  if (countByLabel.FAIL) process.exitCode = 1;
}
