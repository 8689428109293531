/**
 * `compose.yaml` and `deploy`: mounted files exist, names agree, versions are pinned, and the
 * configuration is valid.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, parseAllDocuments } from 'yaml';
import { makePlace, run } from '../fixtures/cli/run.ts';
import { projectRoot } from '../fixtures/paths.ts';

const textOf = (file: string) => fs.readFileSync(join(projectRoot, file), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: { readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?:
    | readonly string[]
    | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: object;
  readonly volumes: object;
}

const compose = parse(textOf('compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);

test('every third-party image is pinned to a version, and our own is built here', () => {
  for (const [name, { image, build }] of services)
    if (build === undefined) assert.match(image, /^[\w/]+:v?\d+\.\d+(?:\.\d+)?$/, name);
    else assert.ok(fs.existsSync(join(projectRoot, build.dockerfile)), name);
  assert.is(services.filter(([, { build }]) => build !== undefined).length, 2);
});

test('every mounted path exists in this repository or is a volume', () => {
  for (const [name, { volumes = [] }] of services)
    for (const volume of volumes) {
      // The certificate is provided by the user.
      if (volume.startsWith('${SVC_TLS_FOLDER:-')) continue;
      const [from = ''] = volume.split(':');
      if (from.startsWith('./')) {
        assert.ok(fs.existsSync(join(projectRoot, from)), `${name}: ${from}`);
        assert.match(volume, /:ro$/, name);
      } else assert.ok(from in compose.volumes, `${name}: ${from}`);
    }
});

test('every dependency, query and secret of a service is declared', () => {
  for (const [name, { depends_on: needs = {}, secrets = [] }] of services) {
    for (const secret of secrets) assert.ok(secret in compose.secrets, `${name}: ${secret}`);
    for (const other of Array.isArray(needs) ? needs : Object.keys(needs))
      assert.ok(other in compose.services, `${name}: ${other}`);
  }
  const hosts = [
    'deploy/svc/proxy.yaml',
    'deploy/prometheus/prometheus.yaml',
    'deploy/grafana/source.yaml',
    'deploy/nginx/upstream-team.conf',
  ].flatMap((file) =>
    textOf(file).match(/(?<=@|\/\/|'|server )(?:svc-\d|redis|postgres|prometheus)(?=:\d)/g),
  );
  assert.ok(hosts.length >= 7, hosts.join());
  for (const host of hosts) assert.ok(host !== null && host in compose.services, String(host));
});

test('svc accepts the configuration of the compose file and of the cluster', async () => {
  const place = makePlace();
  const env = { ...place.env, POSTGRES_PASSWORD: 'a1', SVC_API_KEY: `svc_${'0'.repeat(48)}` };
  const [map] = parseAllDocuments(textOf('deploy/kubernetes/svc.yaml')).map(
    (one) => one.toJS() as { readonly data: Readonly<Record<string, string>> },
  );
  for (const text of [textOf('deploy/svc/proxy.yaml'), map!.data['proxy.yaml']!]) {
    const file = join(place.folder, 'proxy.yaml');
    fs.writeFileSync(file, text);
    const { code, stdout, stderr } = await run(place, ['config', 'validate', file], { env });
    assert.is(code, 0, `${stdout}${stderr}`);
  }
  place.dispose();
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
}

interface Spec {
  readonly serviceName: string;
  readonly selector: { readonly matchLabels: object };
  readonly ports: readonly { readonly name: string; readonly targetPort: string }[];
  readonly template: {
    readonly metadata: { readonly labels: object };
    readonly spec: {
      readonly volumes: readonly {
        readonly name: string;
        readonly configMap: { readonly name: string };
      }[];
      readonly containers: readonly [
        {
          readonly args: readonly string[];
          readonly ports: readonly { readonly name: string }[];
          readonly volumeMounts: readonly { readonly name: string }[];
        },
      ];
    };
  };
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  readonly rules: readonly [
    {
      readonly http: {
        readonly paths: readonly [
          { readonly backend: { readonly service: { readonly name: string } } },
        ];
      };
    },
  ];
}

test('every name by which one manifest refers to another exists', () => {
  const documents = parseAllDocuments(textOf('deploy/kubernetes/svc.yaml'));
  assert.equal(
    documents.flatMap(({ errors }) => errors),
    [],
  );
  const all = documents.map((one) => one.toJS() as Manifest);
  const ofKind = (kind: string) => all.filter((one) => one.kind === kind);
  const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name);
  const set = ofKind('StatefulSet')[0]!.spec;
  const pod = set.template.spec;
  const [container] = pod.containers;
  assert.equal(set.selector.matchLabels, set.template.metadata.labels);
  assert.ok(names('Service').includes(set.serviceName));
  assert.ok(names('ConfigMap').includes(pod.volumes[0]!.configMap.name));
  const volumes = [...pod.volumes, ...set.volumeClaimTemplates.map(({ metadata }) => metadata)];
  assert.equal(
    container.volumeMounts.map(({ name }) => name).toSorted(),
    volumes.map(({ name }) => name).toSorted(),
  );
  for (const { spec } of ofKind('Service'))
    assert.is(spec.ports[0]!.targetPort, container.ports[0]!.name);
  assert.ok(
    names('Service').includes(
      ofKind('Ingress')[0]!.spec.rules[0].http.paths[0].backend.service.name,
    ),
  );
  assert.equal(container.args, compose.services['svc-1']!.command);
});

test('systemd and launchd can parse their service files', () => {
  const unit = textOf('deploy/systemd/svc.service').replace('/usr/bin/env svc', '/bin/true');
  const place = makePlace();
  const file = join(place.folder, 'svc.service');
  fs.writeFileSync(file, unit);
  const checked = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  if (checked.error === undefined) assert.not.match(checked.stderr, /svc\.service:\d+/);
  const code =
    'import plistlib,sys; print(plistlib.loads(sys.stdin.buffer.read())["ProgramArguments"][-1])';
  const input = textOf('deploy/launchd/svc.proxy.plist');
  const read = spawnSync('python3', ['-c', code], { input, encoding: 'utf8' });
  if (read.error === undefined) assert.is(read.stdout, 'serve\n', read.stderr);
  place.dispose();
});

test('Grafana loads the dashboard from the folder in its configuration', () => {
  const grafana = compose.services['grafana']!;
  const { providers } = parse(textOf('deploy/grafana/boards.yaml')) as {
    readonly providers: readonly [{ readonly options: { readonly path: string } }];
  };
  const board = grafana.volumes!.find((one) => one.includes('board.json'))!;
  assert.ok(board.includes(`:${providers[0].options.path}/`), board);
  assert.is((JSON.parse(textOf('examples/grafana/board.json')) as { title: string }).title, 'svc');
});

test.run();
