/** Returns the recipe that `svc recipe create` writes; `docs/recipes.md` shows the same. */
export const newRecipe = (name: string): string => `name: ${name}
description: my-tool without a line for each step
match:
  program: my-tool                # what the command ran
  content: '^my-tool \\d'          # and what the text looks like
must_keep: ['(?i)\\b(error|warning)\\b', '^Done']
operations:
  - drop_lines: { pattern: '^\\s+step \\d+: ' }
  - fold_repeats
examples:
  - command: my-tool build
    from: my-tool 1.0
    made: run
    input: |
      my-tool 1.0
      building shop
      for stage
        step 1: read all the files that there are
        step 2: wrote all the files that there are
        step 3: checked all the files that there are
        step 4: packed all the files that there are
        step 5: signed all the files that there are
      warning: a slow disk
      files: 12
      time: 3 s
      Done
    saves: 30
    keeps: ['warning: a slow disk']
`;
