/**
 * The Prometheus rules and the Grafana dashboard in `deploy/` name metrics and labels that exist.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Registry } from 'prom-client';
import { parse } from 'yaml';
import type { Services } from '../../../src/request/services';
import { ClusterMetrics } from '../../../src/telemetry/cluster-metrics';
import { Metrics, type ServerGauges } from '../../../src/telemetry/metrics';

const read = (name: string) => readFileSync(path.join(__dirname, '../../../deploy', name), 'utf8');

interface Rule {
  expr: string;
  record?: string;
  alert?: string;
}
const rules = (
  parse(read('prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/**
 * Metrics read their values at scrapes only, so they can be listed without the services that
 * provide the values.
 */
const metrics = new Metrics(
  { database: { statementServices: {}, writeLimiters: {} } } as unknown as Services,
  {} as ServerGauges,
);

afterAll(() => metrics.stop());

interface DeclaredMetric {
  name: string;
  type: unknown;
  labelNames?: string[];
}
const metricDeclarations = [metrics.registry, new ClusterMetrics(() => 0).registry].flatMap(
  (registry: Registry) => registry.getMetricsAsArray() as unknown as DeclaredMetric[],
);

/** Label names by the name of each series. */
const labels = new Map<string, string[]>(
  rules.flatMap(({ record }) => (record === undefined ? [] : [[record, []] as [string, string[]]])),
);

for (const { name, type, labelNames = [] } of metricDeclarations) {
  for (const suffix of type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']) {
    labels.set(name + suffix, [...labelNames, 'le']);
  }
}

/** Labels that Prometheus adds to each series. */
const TARGET_LABELS = ['job', 'instance'];

const SELECTOR = /\b((?:fitgraph|process|nodejs)[\w:]*)(?:\{([^}]*)\})?/g;

test.each([
  ...rules.map(({ record, alert, expr }): [string, string] => [(record ?? alert)!, expr]),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  ),
])('%s names metrics and labels that exist: %s', (_name, expr) => {
  // The quoted name is the value of the label `job`, not a metric.
  const selectors = [...expr.replaceAll('"fitgraph"', '""').matchAll(SELECTOR)];

  if (!expr.startsWith('up{')) expect(selectors.length).toBeGreaterThan(0);

  for (const [, name, matchers = ''] of selectors) {
    expect([...labels.keys()]).toContain(name);

    for (const [, label] of matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)) {
      expect([...labels.get(name!)!, ...TARGET_LABELS]).toContain(label);
    }
  }
});
