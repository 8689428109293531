/** An error message from the proxy. */
export function Fault({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="fault" role="alert">
      <TextWithCode text={text} />
    </p>
  );
}

/** Shows a sentence, with the parts in backticks as code. */
export function TextWithCode({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
