/** Returns the macro that `svc macro create NAME` writes: a working one, to be changed. */
export const newMacro = (name: string): string => `# Try it: svc macro run ${name} --dry-run
description: Rule out svc while I look into a problem
variables:
  logs: { default: true, about: whether every request is logged step by step }
steps:
  - pause
  - debug: { on: '{{logs}}' }
`;
