/** What went wrong, as the proxy says it. */
export function Fault({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="fault" role="alert">
      <Words text={text} />
    </p>
  );
}

/** A sentence in which what stands in backticks is to be typed. */
export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
