/** Prompts of commands. On a terminal, the user answers; otherwise each question reads one line of standard input. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { checkPasswordPolicy } from '../auth/accounts';
import { ClientError } from '../core/model/errors';

const discardingStream = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Reads one line; rejects if the input ends first. With `hidden`, the input is not echoed, for passwords. */
function ask(question: string, { hidden = false } = {}): Promise<string> {
  const terminal = process.stdin.isTTY;
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: process.stdin, output: hidden ? discardingStream() : process.stderr, terminal });
    lines.once('close', () => {
      if (terminal && hidden) process.stderr.write('\n');
      reject(new ClientError('BAD_USER_INPUT', 'No input was given. Nothing was changed.'));
    });
    // The question is printed after the interface has disabled the terminal's echo.
    if (terminal && hidden) process.stderr.write(question);
    lines.question(hidden ? '' : question, (line) => {
      resolve(line.trim());
      lines.close();
    });
  });
}

export async function promptConfirmation(question: string, expected: string): Promise<boolean> {
  return (await ask(question)) === expected;
}

/** Reads a new password without echo. Asks twice on a terminal, to detect typing errors. */
export async function promptNewPassword(): Promise<string> {
  const password = await ask('Password: ', { hidden: true });
  checkPasswordPolicy(password);
  if (process.stdin.isTTY && (await ask('Repeat password: ', { hidden: true })) !== password)
    throw new ClientError('BAD_USER_INPUT', 'The passwords do not match. Nothing was changed.');
  return password;
}
