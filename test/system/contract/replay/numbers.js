// Parses JSON so that numbers with a fraction or an exponent keep their spelling: clients in typed
// languages read `372.0` and `372` as different types.

/** A number with its original spelling, such as `372.0` or `1e-05`. */
class Spelled {
  constructor(text) {
    this.text = text;
  }

  valueOf() {
    return Number(this.text);
  }

  toJSON() {
    return `number ${this.text}`;
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = '\u0001number:';

/**
 * Parses JSON like JSON.parse, except that numbers that are not plain integers become instances of
 * Spelled.
 */
function parseSpelled(text) {
  const marked = text.replace(TOKENS, (token) =>
    token[0] !== '"' && /[.eE]/.test(token) ? JSON.stringify(MARK + token) : token,
  );

  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK)
      ? new Spelled(value.slice(MARK.length))
      : value,
  );
}

module.exports = { Spelled, parseSpelled };
