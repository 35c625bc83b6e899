/** `fitgraph doctor`: prints the findings of the diagnostics; exit status 1 if a check fails. */
import { ConfigError, readConfig, showsStackTraces } from '../platform/config';
import { runDiagnostics, type Finding } from './diagnostics';
import { formatCount, printLine } from './operator';

const STATE_LABELS = { ok: 'ok  ', warning: 'WARN', failure: 'FAIL' };

const formatFinding = ({ state, about, said, advice }: Finding) => [
  `${STATE_LABELS[state]}  ${about}: ${said}`,
  ...(advice ? [`      → ${advice}`] : []),
];

export async function doctor(): Promise<void> {
  const findings: Finding[] = [];
  const note = (finding: Finding) => {
    findings.push(finding);
    for (const line of formatFinding(finding)) printLine(line);
  };
  try {
    await runDiagnostics(readConfig(), note);
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
