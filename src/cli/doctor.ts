/** `fitgraph doctor`: prints the findings of the diagnostics; exit status 1 if a check fails. */
import { ConfigError, readConfig, wantsStacks } from '../platform/config';
import { examine, type Finding } from './examination';
import { counted, say } from './operator';

const STATE_LABELS = { ok: 'ok  ', warning: 'WARN', failure: 'FAIL' };

const formatFinding = ({ state, about, said, advice }: Finding) => [
  `${STATE_LABELS[state]}  ${about}: ${said}`,
  ...(advice ? [`      → ${advice}`] : []),
];

export async function doctor(): Promise<void> {
  const findings: Finding[] = [];
  const note = (finding: Finding) => {
    findings.push(finding);
    for (const line of formatFinding(finding)) say(line);
  };
  try {
    await examine(readConfig(), note);
  } catch (error) {
    const { message, stack } = error as Error;
    const isConfigError = error instanceof ConfigError;
    note({
      state: 'failure',
      about: isConfigError ? 'Configuration' : 'Unexpected',
      said: isConfigError || !wantsStacks() ? message : stack!,
    });
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  say(`${findings.length} checks: ${count('failure')} failed, ${counted(count('warning'), 'warning')}.`);
  if (count('failure')) process.exitCode = 1;
}
