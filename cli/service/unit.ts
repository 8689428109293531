/** The files by which systemd and launchd run the proxy. */

export interface UnitFacts {
  readonly node: string;
  readonly entry: string;
  readonly home: string;
  readonly kind: ServiceKind;
}

export const serviceKinds = ['systemd', 'launchd'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** Where the file belongs, below the user's home. */
export const servicePaths: Readonly<Record<ServiceKind, string>> = {
  systemd: '.config/systemd/user/svc.service',
  launchd: 'Library/LaunchAgents/svc.proxy.plist',
};

/** What turns it on once it lies there. */
export const serviceStarts: Readonly<Record<ServiceKind, string>> = {
  systemd: 'systemctl --user enable --now svc',
  launchd: 'launchctl load -w ~/Library/LaunchAgents/svc.proxy.plist',
};

/** The text of the file. Keys are no part of it: they belong in the config file. */
export function unitText(facts: UnitFacts): string {
  return facts.kind === 'systemd' ? systemdUnit(facts) : launchdList(facts);
}

function systemdUnit({ node, entry, home }: UnitFacts): string {
  return `[Unit]
Description=svc, a local proxy for language models
After=network-online.target

[Service]
ExecStart=${[node, entry, 'serve'].map(systemdWord).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Environment=${systemdWord(`SVC_HOME=${home}`)}
Restart=on-failure
RestartSec=2
# Running requests may end: svc drains for at most 30 s.
TimeoutStopSec=40
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
`;
}

function systemdWord(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`);
  return `"${escaped.replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}

function launchdList({ node, entry, home }: UnitFacts): string {
  const words = [node, entry, 'serve'].map((word) => `    <string>${xml(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>svc.proxy</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_HOME</key>
    <string>${xml(home)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>40</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
