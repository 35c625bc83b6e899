// Ids of rows created during the replay: the recorded id `{{workout:5}}` stands for the id that
// this server gave the row, so sequences may skip numbers. Ids of the data set are plain numbers
// and must match exactly.

const WHOLE = /^\{\{([a-z-]+):(\d+)\}\}$/;
const ANYWHERE = /\{\{([a-z-]+):(\d+)\}\}/g;
const NOT_AN_ID = new Set(['years', 'startsWith']);

class RowIds {
  #actual = new Map();
  #taken = new Set();

  /** Returns [resource, recorded id] of a placeholder, or null for any other string. */
  static parse(text) {
    const match = WHOLE.exec(text);

    return match && !NOT_AN_ID.has(match[1]) ? [match[1], match[2]] : null;
  }

  /**
   * Whether `value` equals the id of the row. The first comparison binds the row to its id; two
   * rows never share an id.
   */
  matches([resource, recorded], value) {
    const row = `${resource}:${recorded}`;

    if (this.#actual.has(row)) return this.#actual.get(row) === value;
    if (!Number.isInteger(value) || this.#taken.has(`${resource}:${value}`)) return false;
    this.#actual.set(row, value);
    this.#taken.add(`${resource}:${value}`);
    return true;
  }

  /**
   * Returns the id to send. A row that is not bound, because its creation failed, keeps the
   * recorded number.
   */
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
