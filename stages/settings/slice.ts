/**
 * A slice: the settings of one part of the program, declared in that part's folder, and the
 * structure in which the part receives their values. Slices contain slices, up to the whole
 * configuration.
 */
import type { Origin, Setting } from './setting.ts';

/** A setting, or settings in a slice of their own. */
type Member = Setting | AnySlice;
type Members = Readonly<Record<string, Member>>;

/** The values of a slice's members, as the program uses them. */
type Values<M extends Members> = {
  readonly [F in keyof M]: M[F] extends Setting<string, infer _T, infer V> ? V : SectionOf<M[F]>;
};

/** What a slice may read about its own members besides their values. */
export interface SliceContext<M> {
  /** `$SVC_HOME`, absolute. */
  readonly home: string;
  /** The name that the user chose, below a slice of `each`; otherwise empty. */
  readonly name: string;
  /** Returns the source of the value of a setting in this slice. */
  readonly origin: (field: keyof M & string) => Origin;
}

export interface Slice<M extends Members, S> {
  readonly members: M;
  /** The section of the config file whose names the user chooses. */
  readonly each?: string;
  /** Names that exist without being configured. */
  readonly builtIn?: readonly string[];
  shape(values: Values<M>, requested: SliceContext<M>): S;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the members' types meet their shape only inside a slice
type AnySlice = Slice<any, unknown>;

/** The values of a slice, as the program receives them. */
export type SectionOf<S> = S extends { shape(...given: never): infer Section } ? Section : never;

/** Union of all settings in a slice. */
export type SettingOf<S> = S extends { readonly members: infer M }
  ? { [F in keyof M]: M[F] extends Setting ? M[F] : SettingOf<M[F]> }[keyof M]
  : never;

/** Defines a slice whose section is its members' values, or what `shape` makes of them. */
export function slice<M extends Members>(members: M): Slice<M, Values<M>>;
export function slice<M extends Members, S>(
  members: M,
  shape: (values: Values<M>, requested: SliceContext<M>) => S,
): Slice<M, S>;
export function slice<M extends Members>(
  members: M,
  shape: (values: Values<M>, requested: SliceContext<M>) => unknown = (values) => values,
): Slice<M, unknown> {
  return { members, shape };
}

/**
 * Defines a slice for every name below `section`, in a record without a prototype; a null is left
 * out.
 */
export function each<M extends Members, S>(
  section: string,
  members: M,
  shape: (values: Values<M>, requested: SliceContext<M>) => S,
  builtIn: readonly string[] = [],
): Slice<M, Readonly<Record<string, NonNullable<S>>>> {
  // The result of `shape` for one name is in the record that `build` makes (see there).
  return { members, shape: shape as never, each: section, builtIn };
}

function isSetting(member: Member): member is Setting {
  return 'key' in member;
}

/** Returns every setting of a slice, in the order of declaration. */
export function settingsOf(of: AnySlice): readonly Setting[] {
  return Object.values(of.members as Members).flatMap((member) =>
    isSetting(member) ? [member] : settingsOf(member),
  );
}

/** Returns the sections whose names the user chooses, each with its built-in names. */
export function namedSections(of: AnySlice): ReadonlyMap<string, readonly string[]> {
  const own = of.each === undefined ? [] : [[of.each, of.builtIn ?? []] as const];
  const inner = Object.values(of.members as Members).flatMap((member) =>
    isSetting(member) ? [] : [...namedSections(member)],
  );
  return new Map([...own, ...inner]);
}

/** Where `build` finds the final values. */
export interface FinalValues {
  readonly home: string;
  readonly names: (section: string) => readonly string[];
  readonly find: (setting: Setting, name: string) => Origin & { readonly value: unknown };
}

/** Returns the section of `of`; values must be valid. */
export function build<S extends AnySlice>(of: S, settings: FinalValues): SectionOf<S> {
  return toSection(of, settings, '') as SectionOf<S>;
}

function toSection(of: AnySlice, settings: FinalValues, name: string): unknown {
  if (of.each === undefined) return shapeMembers(of, settings, name);
  const record = Object.create(null) as Record<string, unknown>;
  for (const one of settings.names(of.each)) {
    const value = shapeMembers(of, settings, one);
    if (value !== null) record[one] = value;
  }
  return record;
}

function shapeMembers(of: AnySlice, settings: FinalValues, name: string): unknown {
  const members = of.members as Members;
  const values = Object.entries(members).map(([field, member]) => {
    if (!isSetting(member)) return [field, toSection(member, settings, name)];
    const { value } = settings.find(member, name);
    return [field, member.read === undefined ? value : member.read(value, settings.home)];
  });
  return of.shape(Object.fromEntries(values), {
    home: settings.home,
    name,
    origin: (field) => {
      const { source, where } = settings.find(members[field] as Setting, name);
      return { source, where };
    },
  });
}
