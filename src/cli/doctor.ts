import { ConfigError, readConfig, wantsStacks } from '../platform/config';
import { examine, type Finding } from './examination';
import { counted, say } from './operator';

const WORDS = { ok: 'ok  ', warning: 'WARN', failure: 'FAIL' };

const lines = ({ state, about, said, advice }: Finding) => [`${WORDS[state]}  ${about}: ${said}`, ...(advice ? [`      → ${advice}`] : [])];

export async function doctor(): Promise<void> {
  const findings: Finding[] = [];
  const note = (finding: Finding) => {
    findings.push(finding);
    for (const line of lines(finding)) say(line);
  };
  try {
    await examine(readConfig(), note);
  } catch (error) {
    const { message, stack } = error as Error;
    const known = error instanceof ConfigError;
    note({ state: 'failure', about: known ? 'Configuration' : 'Unexpected', said: known || !wantsStacks() ? message : stack! });
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  say(`${findings.length} checks: ${count('failure')} failed, ${counted(count('warning'), 'warning')}.`);
  if (count('failure')) process.exitCode = 1;
}
