/** What a command asks: people in a terminal, or else a line of standard input each. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { checkPassword } from '../auth/accounts';
import { KnownError } from '../core/model/errors';

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** The next line. Who ends the input instead of answering wants nothing to happen. */
function answer(question: string, { hidden = false } = {}): Promise<string> {
  const terminal = process.stdin.isTTY;
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: process.stdin, output: hidden ? nowhere() : process.stderr, terminal });
    lines.once('close', () => {
      if (terminal && hidden) process.stderr.write('\n');
      reject(new KnownError('BAD_USER_INPUT', 'There was no answer: nothing was changed.'));
    });
    // Only now the terminal shows nothing by itself of what is typed.
    if (terminal && hidden) process.stderr.write(question);
    lines.question(hidden ? '' : question, (line) => {
      resolve(line.trim());
      lines.close();
    });
  });
}

/** Whoever means it types this again. */
export async function confirm(question: string, typed: string): Promise<boolean> {
  return (await answer(question)) === typed;
}

/** A new password: hidden and asked for twice in a terminal, where a slip would show to nobody. */
export async function newPassword(): Promise<string> {
  const password = await answer('Password: ', { hidden: true });
  checkPassword(password);
  if (process.stdin.isTTY && (await answer('The same again: ', { hidden: true })) !== password)
    throw new KnownError('BAD_USER_INPUT', 'These were two different passwords: nothing was changed.');
  return password;
}
