// Rows made during the replay: the recorded id `{{workout:5}}` stands for whatever id this server gave the row,
// so sequences may skip numbers. Ids of the dataset itself are plain numbers and must match exactly.

const WHOLE = /^\{\{([a-z-]+):(\d+)\}\}$/;
const ANYWHERE = /\{\{([a-z-]+):(\d+)\}\}/g;
const NOT_AN_ID = new Set(['years', 'startsWith']);

class RowIds {
  #actual = new Map();
  #taken = new Set();

  /** [resource, recorded id] of a placeholder, or null for any other string. */
  static parse(text) {
    const match = WHOLE.exec(text);
    return match && !NOT_AN_ID.has(match[1]) ? [match[1], match[2]] : null;
  }

  /** Does `value` equal the row's id? The first sight of a row binds it; two rows never share an id. */
  matches([resource, recorded], value) {
    const row = `${resource}:${recorded}`;
    if (this.#actual.has(row)) return this.#actual.get(row) === value;
    if (!Number.isInteger(value) || this.#taken.has(`${resource}:${value}`)) return false;
    this.#actual.set(row, value);
    this.#taken.add(`${resource}:${value}`);
    return true;
  }

  /** The id to send; an unbound row (its creation failed) keeps the recorded number. */
  actual(resource, recorded) {
    return this.#actual.get(`${resource}:${recorded}`) ?? Number(recorded);
  }

  fillText(text) {
    return text.replace(ANYWHERE, (whole, resource, recorded) =>
      NOT_AN_ID.has(resource) ? whole : String(this.actual(resource, recorded)),
    );
  }

  /** Copies a JSON value with placeholders replaced by numbers. */
  fill(value) {
    if (typeof value === 'string') {
      const row = RowIds.parse(value);
      return row ? this.actual(...row) : value;
    }
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (value && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fill(item)]));
    }
    return value;
  }
}

module.exports = { RowIds };
