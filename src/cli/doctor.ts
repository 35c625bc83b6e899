/** `fitgraph doctor`: prints the findings of the diagnostics; exit status 1 if a check fails. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, readConfig, readEnvironment, showsStackTraces } from '../platform/config';
import { runDiagnostics } from './diagnostics';
import type { Finding } from './finding';
import { formatCount, printLine } from './operator';

const STATE_LABELS = { ok: 'ok  ', warning: 'WARN', failure: 'FAIL' };

const formatFinding = ({ state, about, said, advice }: Finding) => [
  `${STATE_LABELS[state]}  ${about}: ${said}`,
  ...(advice ? [`      → ${advice}`] : []),
];

function variablesOf(environment: string | undefined) {
  if (environment === undefined) return readEnvironment();
  try {
    return { ...readEnvironment(), ...parseEnv(readFileSync(environment, 'utf8')) };
  } catch (error) {
    throw new ConfigError(`--environment: ${(error as Error).message}`);
  }
}

export async function doctor({ environment }: { environment?: string } = {}): Promise<void> {
  const findings: Finding[] = [];
  const note = (finding: Finding) => {
    findings.push(finding);
    for (const line of formatFinding(finding)) printLine(line);
  };
  try {
    const variables = variablesOf(environment);
    await runDiagnostics(readConfig(variables), variables, note);
  } catch (error) {
    const { message, stack } = error as Error;
    const isConfigError = error instanceof ConfigError;
    note({
      state: 'failure',
      about: isConfigError ? 'Configuration' : 'Unexpected',
      said: isConfigError || !showsStackTraces() ? message : stack!,
    });
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  printLine(`${findings.length} checks: ${count('failure')} failed, ${formatCount(count('warning'), 'warning')}.`);
  if (count('failure')) process.exitCode = 1;
}
