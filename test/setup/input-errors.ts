/** Errors in the arguments of a field or in a variable. */

interface InputErrorExtensions {
  extensions: Record<string, any>;
}

/** Returns the messages of an error by path, whose segments are joined: `orderBy.0.of`. */
export function messagesByPath({ extensions }: InputErrorExtensions): Record<string, string[]> {
  const messages: Record<string, string[]> = {};

  for (const { path, message } of extensions.inputErrors) {
    (messages[path.join('.')] ??= []).push(message);
  }

  return messages;
}
