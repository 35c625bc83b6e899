/**
 * Prompts of commands. On a terminal, the user answers; otherwise each question reads one line of
 * standard input.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { checkPasswordPolicy } from '../accounts/accounts';
import { ClientError } from '../engine/declare/errors';

const createDiscardingStream = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Reads one line. With `isHidden`, the input is not echoed, for passwords. */
function readAnswer(question: string, { isHidden = false } = {}): Promise<string> {
  const isTerminal = process.stdin.isTTY;

  return new Promise((resolve, reject) => {
    const lineReader = createInterface({
      input: process.stdin,
      output: isHidden ? createDiscardingStream() : process.stderr,
      terminal: isTerminal,
    });

    lineReader.once('close', () => {
      if (isTerminal && isHidden) process.stderr.write('\n');
      reject(new ClientError('BAD_USER_INPUT', 'No input was given. Nothing was changed.'));
    });
    // Prints the question of a hidden answer only after readline has disabled the echo of the
    // terminal.
    if (isTerminal && isHidden) process.stderr.write(question);
    lineReader.question(isHidden ? '' : question, (line) => {
      resolve(line.trim());
      lineReader.close();
    });
  });
}

export async function promptConfirmation(
  question: string,
  expectedAnswer: string,
): Promise<boolean> {
  return (await readAnswer(question)) === expectedAnswer;
}

/** Reads a new password without echo. Asks twice on a terminal, to detect typing errors. */
export async function promptNewPassword(): Promise<string> {
  const password = await readAnswer('Password: ', { isHidden: true });

  checkPasswordPolicy(password);

  if (
    process.stdin.isTTY &&
    (await readAnswer('Repeat password: ', { isHidden: true })) !== password
  ) {
    throw new ClientError('BAD_USER_INPUT', 'The passwords do not match. Nothing was changed.');
  }

  return password;
}
