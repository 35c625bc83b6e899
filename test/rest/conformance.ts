/** Validates responses against the OpenAPI document, by path, method and status. */
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020';
import type { OpenApiDocument } from '../../src/rest/openapi/document';
import { normalizeTarget } from '../../src/server/request-target';

const FORMATS = ['decimal', 'time-local', 'binary'];

/**
 * Returns the schema with additional keys of objects disallowed, in order to find keys that the
 * document does not describe.
 */
function withoutExtraKeys(schema: any): any {
  if (Array.isArray(schema)) return schema.map(withoutExtraKeys);
  if (schema === null || typeof schema !== 'object') return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withoutExtraKeys(value)]),
  );

  return inner.properties && [inner.type].flat().includes('object')
    ? { additionalProperties: false, ...inner }
    : inner;
}

const escaped = (path: string) => path.replaceAll('~', '~0').replaceAll('/', '~1');

const read = new Map<string, Conformance>();

export class Conformance {
  private readonly ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
  });

  /**
   * Returns the same instance for the same document, because compiling it is slow and most servers
   * of a test suite share it.
   */
  static with(document: OpenApiDocument): Conformance {
    const text = JSON.stringify([document.paths, document.components]);
    const known = read.get(text) ?? new Conformance(document);

    read.set(text, known);
    return known;
  }

  constructor(private readonly document: OpenApiDocument) {
    addFormats(this.ajv);
    for (const format of FORMATS) this.ajv.addFormat(format, true);
    const { paths, components } = document;

    this.ajv.addVocabulary(['paths', 'components']);
    this.ajv.addSchema({ $id: 'document', ...withoutExtraKeys({ paths, components }) });
  }

  /**
   * Returns the differences of a JSON response from the description of a path such as `/…/{id}/`;
   * none if it conforms.
   */
  problems(method: string, path: string, status: number, body: unknown): string[] {
    const operation = this.document.paths[path]?.[method.toLowerCase()] as
      { responses: Record<string, any> } | undefined;
    const response = operation?.responses[status];

    if (!response) return [`${method} ${path} has no answer ${status}`];
    const at: string =
      response.$ref ?? `#/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`;

    return this.differences(`document${at}/content/application~1json/schema`, body);
  }

  /**
   * Returns the differences for a requested URL below the base path. A response that is not
   * described must be an error.
   */
  problemsAt(method: string, url: string, status: number, body: unknown): string[] {
    const path = this.pathOf(
      normalizeTarget(url)
        .split('?')[0]!
        .replace(/\/?\.[a-z0-9]+\/?$/, '/'),
    );

    if (path !== undefined && this.document.paths[path]![method.toLowerCase()] && status < 500) {
      return this.problems(method, path, status, body);
    }

    return status < 400
      ? [`${status} is answered, and nothing is described`]
      : this.violations('detail', body);
  }

  private pathOf(path: string): string | undefined {
    const general = path.replace(/^(\/[a-z0-9-]+\/)[^/]+\//, '$1{id}/');

    return [path, general].find((candidate) => Object.hasOwn(this.document.paths, candidate));
  }

  /** Returns the differences of a value from the schema with this name. */
  violations(component: string, value: unknown): string[] {
    return this.differences(`document#/components/schemas/${component}`, value);
  }

  private differences(reference: string, value: unknown): string[] {
    const validate = this.ajv.getSchema(reference);

    if (!validate) return [`${reference} is not there`];

    return validate(value)
      ? []
      : validate.errors!.map(
          ({ instancePath, message }) => `${reference} ${instancePath} ${message}`,
        );
  }
}
